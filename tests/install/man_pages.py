"""Manual pages of the installed tree."""

import os
import re
import shutil
import subprocess

from tree import check, run, text_of

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
    """Each program has one, with every option that its --help has, and groff has nothing to say."""
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
            said = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], text=True,
                                  capture_output=True, check=False)
            check(said.returncode == 0 and not said.stderr, f"groff says of {page}: {said.stderr}")
