"""An installed tree, and running things in and against it."""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("seq", "parsync", "par")
# Networks that src/net declares, and whether each is a plug-in; those of one machine.
DECLARED = {"smp": False}
ONE_MACHINE = {"smp"}
for _folder in sorted(os.listdir(os.path.join(HERE, "..", "..", "src", "net"))):
    _file = os.path.join(HERE, "..", "..", "src", "net", _folder, "conduit.cmake")
    if os.path.exists(_file):
        with open(_file, encoding="utf-8") as _text:
            _declaration = _text.read()
        DECLARED[_folder] = re.search(r"gex_conduit\(\w+ PLUGIN", _declaration) is not None
        if "ONE_MACHINE" in _declaration:
            ONE_MACHINE.add(_folder)

# What a user's shell may hold and a client must do without.
UNWANTED = ("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH",
            "GEX_CONDUIT", "GASNET_PSHM_NODES", "GASNET_SPAWNFN", "GASNET_SPAWNER",
            *(f"GASNET_{name.upper()}_SPAWNER" for name in DECLARED), "SSH_CMD", "SSH_OPTIONS",
            "GASNET_SSH_NODEFILE", "GASNET_SSH_SERVERS", "SSH_SERVERS", "GASNET_NODEFILE",
            "GASNET_SSH_CMD", "GASNET_SSH_OPTIONS", "MAKEFLAGS", "MFLAGS")


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


def run(command, cwd=None, status=0, stdin=None, **variables):
    """Runs the command and returns its standard output; anything but the status is a failure.
    `stdin` is text for its standard input."""
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    environment.update(variables)
    result = subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True,
                            text=True, timeout=120, check=False)
    check(result.returncode == status,
          f"{command} (in {cwd or '.'}): status {result.returncode}, not {status}\n"
          f"{result.stdout}{result.stderr}")
    return result.stdout if status == 0 else result.stdout + result.stderr


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Tree:
    """The tree below `prefix`, and a folder for what is built against it."""

    def __init__(self, prefix, work, compiler, installed=None):
        self.prefix = prefix
        self.installed = installed or prefix  # where it was installed, should it have been moved
        self.work = work
        self.compiler = compiler  # what the library's C sources were compiled with
        os.makedirs(work, exist_ok=True)

    @classmethod
    def install(cls, build, prefix, work):
        run(["cmake", "--install", build, "--prefix", prefix])
        cache = text_of(os.path.join(build, "CMakeCache.txt"))
        return cls(prefix, work, re.search(r"^CMAKE_C_COMPILER:\w+=(.*)$", cache, re.M).group(1))

    @property
    def moved(self):
        return self.prefix != self.installed

    def at(self, prefix, work):
        """The same tree at another place."""
        return Tree(prefix, work, self.compiler, self.installed)

    @property
    def conduits(self):
        """The networks that clients can be labelled with: a plug-in's where it could be built."""
        return tuple(name for name, is_plugin in DECLARED.items()
                     if not is_plugin or os.path.exists(self.path("lib", f"libgex-{name}.so")))

    def path(self, *parts):
        return os.path.join(self.prefix, *parts)

    def output(self, name):
        return os.path.join(self.work, name)

    def source(self, name, suffix=None):
        """A source of ours, under another suffix if the compiler is to take it for that language."""
        path = os.path.join(HERE, name)
        if suffix is None:
            return path
        copy = self.output(os.path.splitext(name)[0] + suffix)
        if not os.path.exists(copy):
            shutil.copy(path, copy)
        return copy

    def pkg_config(self, *words):
        return run(["pkg-config", *words], PKG_CONFIG_PATH=self.path("lib", "pkgconfig")).strip()

    def settings(self, fragment, names, **given):
        """The values that make gives the settings of a fragment; `given` are variables of its command line."""
        rules = "".join(f"\t@echo '{name}=$({name})'\n" for name in names)
        makefile = self.output("settings.mk")
        with open(makefile, "w", encoding="utf-8") as file:
            file.write(f"include {fragment}\nsettings:\n{rules}")
        words = [f"{name}={value}" for name, value in given.items()]
        lines = run(["make", "-s", "-f", makefile, "settings", *words]).splitlines()
        return {name: value.strip() for name, value in (line.split("=", 1) for line in lines)}


def ssh_spawner(label):
    """The launcher as a label's fragments and identification state it: whether it reaches other
    machines."""
    return "0" if label in ONE_MACHINE else "1"


def expect_job(program, launch, label, mode, neighbors=None, **variables):
    """Runs the client as a job of two: every rank's put arrives, and label and mode are these. With
    one neighbor, as for every label but smp if not given, only a network leads from rank to rank."""
    if neighbors is None:
        neighbors = 2 if label == "smp" else 1
    variables["GASNET_SUPERNODE_MAXSIZE"] = str(neighbors)
    output = run([*launch, program], **variables)
    for rank in (0, 1):
        line = (f"rank {rank} of 2: {label.upper()} {mode.upper()}, "
                f"{neighbors} in the neighborhood, right")
        check(line in output.splitlines(), f"{program}: no line '{line}' in:\n{output}")


def expect_gasnet1_job(program):
    """Runs the client of GASNet-1 as a job of two that forks itself."""
    output = run([program], GASNET_PSHM_NODES="2")
    for rank in (0, 1):
        line = f"rank {rank} of 2: SMP GASNet-1, right"
        check(line in output.splitlines(), f"{program}: no line '{line}' in:\n{output}")


def expect_identification(program, conduit, mode):
    """Scripts find these strings in the executable: one record a line, its words between dollars."""
    with open(program, "rb") as file:
        image = file.read()
    threads = "GASNET_" + mode.upper()
    label = conduit.upper()
    for name, value in {"ConduitName": label, "ThreadModel": threads, "CoreLibraryName": label,
                        "EXAPIVersion": r"0\.19", "APIVersion": "1",
                        "Segment": "GASNET_SEGMENT_FAST", "CoreLibraryVersion": r"[0-9.]+",
                        "DefaultMaxSegsizeStr": r"\S+", "PSHM": "1", "FORKSpawner": "1",
                        "MPISpawner": "0", "SSHSpawner": ssh_spawner(conduit), "BuildId": r"libgex \S+",
                        "GitHash": r"\S+", "ConfigureArgs": ".*--enable-smp.*",
                        "SystemTuple": r"\S+-linux-\S+", "CompilerID": r"\|COMPILER_FAMILY:.*",
                        "Config": r"\(libgasnet\.a\) RELEASE=2025\.8\.0,SPEC=0\.19,"
                                  rf"CONDUIT={label}\({label}-[0-9.]+/{label}-[0-9.]+\),"
                                  rf"THREADMODEL={mode.upper()},SEGMENT=FAST,PTR=64bit,"
                                  r"CACHE_LINE_BYTES=64,noalign,pshm,nodebug,notrace,.*"}.items():
        found = set(re.findall(rb"\$GASNet" + name.encode() + rb": ([^$\0\n]*) \$", image))
        check(len(found) == 1 and re.fullmatch(value, found.copy().pop().decode()),
              f"{program}: GASNet{name} is {found}, not {value}")


def main(steps, what):
    """Runs the steps, printing each failure; ends the process if there was one."""
    failed = 0
    for step, *arguments in steps:
        try:
            step(*arguments)
        except Failure as failure:
            failed += 1
            print(f"{step.__name__}: {failure}")
    print(f"{what}: {len(steps)} steps, {failed} failed")
    if failed:
        sys.exit(1)
