"""The commands of all documents but README.md (tour.py) that one machine can run: each succeeds with the
installed tree, and where a block quotes its output, that has the quoted lines, whatever their figures."""

import glob
import os
import re
import subprocess

import tour
from tree import check, run, text_of

PROGRAMS = ("gexrun", "gextrace", "gexinfo", "gexperf", "ft")
FENCE = re.compile(r"^```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIABLES = r"(?:[A-Z][A-Z0-9_]*=\S+ +)*"
COMMAND = re.compile(rf"{VARIABLES}(?:\S*/)?({'|'.join(PROGRAMS)})(?: .*)?")

# What is not run, by what the command has, and why.
NOT_RUN = {
    r"--hosts|--hostfile": "needs two more machines; tests/hosts makes some",
    r"--hang-after": "hangs for a minute; tests/jobs/hangs compares reports",
    r"\[": "is a synopsis",
    r", \.\.\.$": "is a list of commands",
    r"build/release/": "is of the build, not of what is installed",
    r"examples/bindings": "is run by bindings.examples",
}
# In their places a user has programs and sizes of his own.
EXAMPLES = [(r"\b(?:program|PROGRAM)\b", "./hello"), ("--class A", "--class S")]

FIGURE = r"(?:\\-)?\d(?:\d|\\\.|,)*(?:\\ (?:[num]?s|[KMGT]?i?B)\b)?"


def commands(text):
    """Yields each command of a document with the lines that are quoted of its output."""
    for block in FENCE.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *quoted = part.splitlines()
            yield command, quoted
    blocks = [block for block in FENCE.findall(text) if not re.search(r"^\$ ", block, re.MULTILINE)]
    blocks += re.findall(r"(?:^ {4}.*\n)+", FENCE.sub("", text), re.MULTILINE)
    for block in blocks:
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            yield line.strip(), []


def runnable():
    """Each command that is run, with its document and what is quoted, and the reasons not to run the
    others."""
    reasons = set()
    found = []
    for path in sorted(glob.glob(os.path.join(tour.SOURCE, "**", "*.md"), recursive=True)):
        name = os.path.relpath(path, tour.SOURCE)
        if name in ("README.md", "CHANGELOG.md") or name.startswith("build"):
            continue
        for line, quoted in commands(text_of(path)):
            command = re.sub(r"\s+#.*| {2,}.*", "", line)
            if not COMMAND.fullmatch(command):
                continue
            reason = next((each for each in NOT_RUN if re.search(each, command)), None)
            if reason is not None:
                reasons.add(reason)
                continue
            for example, becomes in EXAMPLES:
                command = re.sub(example, becomes, command)
            found.append((name, command, quoted))
    check(reasons == set(NOT_RUN), f"no command is left out for {set(NOT_RUN) - reasons}")
    return found


def figures_vary(line):
    """A quoted line as an expression: its figures, their units and columns vary, and the host."""
    text = re.escape(line.strip()).replace("node1", "HOST")
    text = re.sub(FIGURE, r"[-\\d.,]+(?: (?:[num]?s|[KMGT]?i?B))?", text)
    return re.sub(r"(?:\\ )+", r"\\s+", text.replace("HOST", r"\S+"))


def expect(name, command, quoted, result):
    where = f"{name}: `{command}`"
    check(result.returncode == 0, f"{where}: status {result.returncode}\n{result.stdout}")
    lines = [line.strip() for line in result.stdout.splitlines()]
    if "./hello" in command:
        ranks = int(re.search(r"-n (\d+)", command).group(1))
        arrived = [line for line in lines if re.fullmatch(r"rank \d+: a put arrived from rank \d+", line)]
        check(len(arrived) == ranks, f"{where}: {len(arrived)} of {ranks} ranks\n{result.stdout}")
    elif not re.search("--trace|-o ", command):
        check(lines, f"{where} prints nothing")
    for line in quoted:
        if line.strip() not in ("", "..."):
            check(any(re.fullmatch(figures_vary(line), each) for each in lines),
                  f"{where} does not print\n{line}\nIt prints\n{result.stdout}")


def documents(tree):
    folder, environment = tour.home(tree, "documents")
    run(["cc", "-DGASNET_SEQ", os.path.join(tour.SOURCE, "examples", "hello.c"),
         *tree.pkg_config("--cflags", "--libs", "gex").split(), "-o", os.path.join(folder, "hello")])
    found = runnable()
    check(len(found) > 10, f"the documents have {len(found)} commands")
    for name, command, quoted in found:
        if tour.can_run(tree, command):
            result = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                    check=False)
            expect(name, command, quoted, result)
    print(f"documents: {len(found)} commands are run")
