"""Manual pages of the installed tree, and the reference of the interface."""

import os
import re
import shutil
import subprocess

from tree import HERE, check, run, text_of

OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
SECTIONS = ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO")


def page_of(tree, name):
    """The page's file; one that only names another is followed."""
    path = tree.path("share", "man", "man1", name + ".1")
    check(os.path.exists(path), f"no manual page of {name}")
    other = re.fullmatch(r"\.so (\S+)\n", text_of(path))
    return tree.path("share", "man", other.group(1)) if other else path


def plain(source):
    """The words of a page, without what lays them out."""
    return re.sub(r"\\f.|\\[/,]", "", source).replace("\\-", "-")


def man_pages(tree):
    """Each program has one, with every option that its --help has, and groff warns of nothing."""
    if not os.path.isdir(tree.path("share", "man")):
        check(not shutil.which("help2man"), "no manual pages, although help2man is there")
        return
    for name in sorted(os.listdir(tree.path("bin"))):
        page = page_of(tree, name)
        source = text_of(page)
        words = plain(source)
        usage = run([tree.path("bin", name), "--help"], GASNET_PSHM_NODES="1")
        for option in sorted(set(OPTION.findall(usage))):
            check(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", words),
                  f"the manual page of {name} does not have {option}")
        for section in SECTIONS:
            check(re.search(rf'^\.SH "?{section}"?$', source, re.MULTILINE),
                  f"the manual page of {name} has no section {section}")
        check(tree.prefix not in source, f"the manual page of {name} names the prefix")
        check(re.search(rf'^\.SH SYNOPSIS\n\.B (\\fI)?{name.split("_")[0]}', source, re.MULTILINE),
              f"the synopsis of {name} is of another program")
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], text=True,
                                  capture_output=True, check=False)
            check(done.returncode == 0 and not done.stderr, f"groff warns of {page}: {done.stderr}")


# Macros that only keep a header from being read twice.
GUARD = re.compile(r"_(?:INCLUDED|GEX)_\w+_H")
TYPE = re.compile(r"\b(?:gex|gasnett?)_\w+_t\b")


def public_names(tree):
    """The names of the interface: what the library exports, the macros that the headers define, and
    their types. A name that ends with an underscore is internal."""
    exported = run(["nm", "-D", "--defined-only", "--format=posix", tree.path("lib", "libgex.so")])
    names = {line.split()[0].split("@")[0] for line in exported.splitlines()}
    include = tree.path("include")
    headers = [name for name in sorted(os.listdir(include)) if name.endswith(".h")]
    source = "".join(f"#include <{name}>\n" for name in ["gasnetex.h", *headers])
    ours = False
    for line in run(["cc", "-E", "-dD", "-DGASNET_PAR", f"-I{include}", "-x", "c", "-"],
                    stdin=source).splitlines():
        if line.startswith("# "):
            ours = line.split('"')[1].startswith(include)
        elif ours and line.startswith("#define "):
            names.add(re.match(r"#define (\w+)", line).group(1))
        elif ours:
            names.update(TYPE.findall(line))
    return sorted(name for name in names
                  if name.isidentifier() and not name.endswith("_") and not GUARD.fullmatch(name))


def parameters_of(synopsis):
    """The names of the parameters of every declaration."""
    synopsis = re.sub(r"(?m)^#define .*", "", synopsis)
    for arguments in re.findall(r"\w\((?!\*)([^()]*)\)", synopsis):
        for argument in arguments.split(","):
            name = re.search(r"(\w+)(?:\[[^]]*\])*\s*$", argument)
            if name and name.group(1) not in ("void", "arguments", "same"):
                yield name.group(1)


def sections_of(source):
    parts = re.split(r'(?m)^\.SH "?([^"\n]+)"?\n', source)
    return dict(zip(parts[1::2], parts[2::2]))


def interface(tree):
    """Every public name has a manual page, which names it and each parameter, and a place in the
    reference in HTML."""
    folder = tree.path("share", "man", "man3")
    if not os.path.isdir(folder):
        check(not shutil.which("doxygen"), "no reference of the interface, although doxygen is there")
        return
    names = public_names(tree)
    check(len(names) > 1000, f"only {len(names)} public names are found")
    pages = {}
    for name in names:
        path = os.path.join(folder, name + ".3")
        check(os.path.exists(path), f"no manual page of {name}")
        other = re.fullmatch(r"\.so man3/(\S+)\n", text_of(path))
        pages.setdefault(other.group(1) if other else name + ".3", []).append(name)
    for page, described in pages.items():
        sections = sections_of(text_of(os.path.join(folder, page)))
        listed = plain(sections["NAME"] + sections["SYNOPSIS"])
        for name in described:
            family = re.sub(r"\d+(?=$|_v2$)", "", name)
            check(re.search(rf"\b{family}(?:\d+|\b)", listed.replace("[M]", "").replace("[W]", "")),
                  f"the manual page {page} is that of {name}, and does not name it")
        for parameter in parameters_of(plain(sections["SYNOPSIS"])):
            check(f"\n\\fI{parameter}\\fR\n" in sections.get("PARAMETERS", ""),
                  f"the manual page {page} does not describe the parameter {parameter}")
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *sorted(pages)], cwd=folder,
                              text=True, capture_output=True, check=False)
        check(done.returncode == 0 and not done.stderr, f"groff warns: {done.stderr}")

    html = tree.path("share", "doc", "libgex", "reference")
    texts = {file: text_of(os.path.join(html, file)) for file in os.listdir(html)
             if file.endswith(".html")}
    places = {}
    for file, text in texts.items():
        check(os.path.dirname(os.path.dirname(HERE)) not in text, f"{file} names where it was made")
        if file.startswith("globals"):
            places.update(re.findall(r'<li>(\w+)[^<]*<a class="el" href="([^"]+)"', text))
        if file == "annotated.html":
            places.update((name, page) for page, name in
                          re.findall(r'href="(struct[^"]+)"[^>]*>(\w+)</a>', text))
    for name in names:
        check(name in places, f"the reference in HTML does not have {name}")
        file, _, anchor = places[name].partition("#")
        check(f'id="{anchor}"' in texts[file] or not anchor,
              f"the reference in HTML has {name}, and leads nowhere from there")
    print(f"interface: {len(names)} names on {len(pages)} manual pages")


EXAMPLE = re.compile(r" \* @par Example\n \* @code\n(.*?) \* @endcode", re.DOTALL)


def examples_compile(tree):
    """The examples in the headers compile, each in a function of its own after the declarations of
    example_names.h. Those that begin with a macro of the tools stand outside of any."""
    include = tree.path("include")
    text = text_of(tree.source("example_names.h")) + "#define static\n"
    count = 0
    for folder in ("", "gex"):
        for name in sorted(os.listdir(os.path.join(include, folder))):
            if not name.endswith(".h"):
                continue
            for lines in EXAMPLE.findall(text_of(os.path.join(include, folder, name))):
                code = re.sub(r"(?m)^ \* ?", "", lines)
                count += 1
                text += f'# 1 "the example {count}, of {os.path.join(folder, name)}"\n'
                if code.startswith("#if"):
                    text += code + "#endif\n"
                elif code.startswith("GASNETT_"):
                    text += code
                else:
                    text += f"void example_{count}(void) {{\n{code}}}\n"
    check(count > 40, f"only {count} examples are found")
    run(["cc", "-std=gnu11", "-DGASNET_PAR", f"-I{include}", "-fsyntax-only", "-Wall", "-Werror",
         "-Wno-unused", "-Wno-unused-but-set-variable", "-x", "c", "-"], stdin=text)
