#!/usr/bin/env python3
"""Fails when a library shows more than the interface.

    exported_symbols.py LIBRARY...

libgex.so: its dynamic symbols; libgex.a: the global symbols of its objects. Interface names begin
gex_, gasnet_, gasnett_ or gasneti_, the last two also with an underscore before them; two more are
names that build scripts rely on. A shared library must also carry its SONAME, and stay when it is
closed.
"""

import re
import subprocess
import sys

INTERFACE = re.compile(r"^(gex|gasnet|_?gasnett|_?gasneti)_|^(gasnetc_AMPoll|gasnete_coll_team_all)$")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    dynamic = [] if library.endswith(".a") else ["--dynamic"]
    listing = output("nm", *dynamic, "--defined-only", "--extern-only", "--format=posix", library)
    return [line.split()[0] for line in listing.splitlines() if len(line.split()) >= 2]


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: exported_symbols.py LIBRARY...")
    failed = False
    for library in sys.argv[1:]:
        names = exported(library)
        foreign = [name for name in names if not INTERFACE.match(name)]
        for name in foreign:
            print(f"{library}: exports {name}, which is no name of the interface")
        failed |= bool(foreign)
        if not any(name.startswith("gex_") for name in names):
            print(f"{library}: exports no gex_ name at all")
            failed = True
        if not library.endswith(".a") and not re.search(r"SONAME.*\[libgex\.so\.\d+\]",
                                                        output("readelf", "--dynamic", library)):
            print(f"{library}: its SONAME is not libgex.so.N")
            failed = True
        if not library.endswith(".a") and "NODELETE" not in output("readelf", "--dynamic", library):
            print(f"{library}: dlclose would unload it")
            failed = True
        print(f"{library}: {len(names)} names exported, {len(foreign)} of them foreign")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
