"""The tour of README.md: its commands are run with the installed tree, and their output has to be
what it quotes, with more lines only where it has `...`."""

import os
import re
import subprocess

from tree import UNWANTED, check, text_of

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# What differs from run to run and from machine to machine, in text that re.escape has been over.
VARYING = [(r"(host\\ )[\w-]+", r"\1\\S+"), (r"(pid\\ )\d+", r"\1\\d+"),
           (r"0x[0-9a-f]+", r"0x[0-9a-f]+"), (r"(?:\\ )+", r"\\s+")]


def commands(readme):
    """Yields each command of the tour with the lines that are quoted of its output, `...` among
    them."""
    for block in BLOCK.findall(readme):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            # A line that is indented far goes on with the one above.
            command, *quoted = re.sub(r"\n {8,}", " ", part).splitlines()
            yield command, quoted


def pattern(line):
    figure = re.fullmatch(r"(\S+) .* \d+ of \d+", line)  # a line of gexperf: all but its name varies
    if figure:
        return re.escape(figure.group(1)) + r"\s.*\d+ of \d+"
    text = re.escape(line)
    for varying, becomes in VARYING:
        text = re.sub(varying, becomes, text)
    return text


def differences(quoted, output):
    """The quoted lines that the output does not have, each of its lines taken once, and those of the
    output that are not quoted."""
    lines = output.splitlines()
    for line in quoted:
        if line == "...":
            continue
        found = next((each for each in lines if re.fullmatch(pattern(line), each.rstrip())), None)
        if found is None:
            yield line
        else:
            lines.remove(found)
    if "..." not in quoted:
        yield from lines


def can_run(tree, command):
    if "gexperf" in command:
        return len(os.sched_getaffinity(0)) >= 2
    conduit = re.search(r"(?:--conduit |GEX_CONDUIT=)([a-z]+)", command)
    return conduit is None or conduit.group(1) in tree.conduits


def home(tree, name):
    """A user's folder, in which the tree is gex and the examples are those of the sources; and the
    environment."""
    folder = tree.output(name)
    os.makedirs(folder)
    os.symlink(tree.prefix, os.path.join(folder, "gex"))
    os.symlink(os.path.join(SOURCE, "examples"), os.path.join(folder, "examples"))
    environment = {name: value for name, value in os.environ.items()
                   if name not in UNWANTED and not name.startswith(("GEX_", "GASNET_"))}
    environment.update(HOME=folder, PATH=f"{folder}/gex/bin:{os.environ['PATH']}",
                       PKG_CONFIG_PATH=f"{folder}/gex/lib/pkgconfig")
    return folder, environment


def tour(tree):
    """As a user goes through it, in the folder of the sources."""
    folder, environment = home(tree, "home")
    found = list(commands(text_of(os.path.join(SOURCE, "README.md"))))
    check(len(found) > 5, f"README.md has a tour of {len(found)} commands")
    for command, quoted in found:
        if not can_run(tree, command):
            continue
        result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                check=False)
        for line in differences(quoted, result.stdout):
            check(False, f"README.md and `{command}` differ in\n{line}\nIt prints\n{result.stdout}")
