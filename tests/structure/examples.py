#!/usr/bin/env python3
"""Checks the commands of all documents: a program of ours has the options that it is shown with, a
target of make and a script of the tree exist.

  examples.py SOURCE BIN

Commands are the lines of code blocks and the code within text. Those of blocks that one machine can run
are run besides, and what they quote of the output is compared (tests/install: tour.py, documents.py).
"""

import pathlib
import re
import subprocess
import sys

PROGRAMS = ("gexrun", "gextrace", "gexinfo", "gexperf", "ft")
CODE = re.compile(r"^(```|~~~)[^\n]*\n(.*?)^\1|`([^`\n]+)`", re.M | re.S)
OPTION = re.compile(r"^(--[a-z][a-z-]*|-[a-z])(=.*)?$")
PLACEHOLDER = re.compile(r"[A-Z<*%]|\.\.\.")


def commands(text):
    """The lines that may be commands."""
    for found in CODE.finditer(text):
        block = found.group(2) if found.group(2) is not None else found.group(3)
        # A line that ends in a backslash goes on.
        for line in block.replace("\\\n", " ").splitlines():
            yield re.sub(r"\s+#.*", "", line.removeprefix("$ ").strip())
    for line in text.splitlines():
        if line.startswith("    "):
            yield re.sub(r"\s+#.*", "", line.strip())


def without_variables(words):
    while words and re.match(r"^[A-Z][A-Z0-9_]*=", words[0]):
        words = words[1:]
    return words


class Checker:
    def __init__(self, source, folder):
        self.source = source
        self.help = {name: self.help_of(folder / name) for name in PROGRAMS}
        makefile = (source / "Makefile").read_text(encoding="utf-8")
        self.targets = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.M))
        self.targets = {word for line in self.targets for word in line.split()}
        self.checked = 0

    @staticmethod
    def help_of(program):
        def text_of(*words):
            return subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=60,
                                  check=True).stdout
        text = text_of()
        # A command's own, as of `gextrace predict`.
        for command in re.findall(r"^ +or: +\S+ ([a-z]+) ", text, re.MULTILINE):
            text += text_of(command)
        return set(re.findall(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", text)) | {"--help"}

    def failures(self, line):
        words = without_variables(line.split())
        if not words:
            return
        if words[0] == "make" and len(words) > 1 and re.match(r"^[a-z][a-z-]*$", words[1]):
            self.checked += 1
            target = words[1]
            if target not in self.targets and not re.match(r"check-[a-z-]+$", target):
                yield f"`{line}`: the Makefile has no {target}"
        if words[0].startswith(("tools/", "tests/")) and not PLACEHOLDER.search(words[0]):
            self.checked += 1
            if not (self.source / words[0]).exists():
                yield f"`{line}`: there is no {words[0]}"
        program = None
        if pathlib.Path(words[0]).name not in PROGRAMS:
            return
        for word in words:
            name = pathlib.Path(word).name
            if name in PROGRAMS:
                program = name
            elif word.startswith("./") or word in ("|", "||", "&&", ";", ">", "program", "PROGRAM"):
                # What follows is another program's.
                program = None
            elif program and OPTION.match(word):
                self.checked += 1
                option = OPTION.match(word).group(1)
                if option not in self.help[program]:
                    yield f"`{line}`: {program} has no {option}"


def main():
    source, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    checker = Checker(source, folder)
    for wrong in ("gexrun -n 2 --no-such-option ./hello", "make nothing", "tools/nothing"):
        if not list(checker.failures(wrong)):
            print(f"the check is blind: it takes `{wrong}` for right")
            return 1
    documents = [path for path in sorted(source.rglob("*.md"))
                 if path.relative_to(source).parts[0] not in ("build", ".git")]
    failures = []
    for path in documents:
        document = path.relative_to(source)
        text = path.read_text(encoding="utf-8")
        failures += [f"{document}: {failure}" for line in commands(text)
                     for failure in checker.failures(line)]
    print("\n".join(failures))
    print(f"{checker.checked} commands and options in {len(documents)} documents, "
          f"{len(failures)} failures")
    # Fewer than 50 commands: most were not found.
    return 1 if failures or checker.checked < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
