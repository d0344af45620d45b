#!/usr/bin/env python3
"""The timeline and the hang report show how memory of devices was reached.

    observed_test.py GEXRUN GEXTRACE CUDA_TEST CUDA_HEAT DRIVER
"""

import os
import pathlib
import subprocess
import sys
import tempfile

# Puts between ranks that share no memory go by messages.
APART = ("--conduit", "emu", "-E", "GASNET_SUPERNODE_MAXSIZE=1")


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, check=False, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout


def expect(text, output):
    if text not in output:
        print(output)
        sys.exit(f"observed_test.py: there is no '{text}'")


def main():
    gexrun, gextrace, cuda_test, cuda_heat, driver = sys.argv[1:]
    os.environ["GEX_CUDA_LIBRARY"] = driver
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace"
        run(gexrun, "-n", "2", *APART, "--trace", trace, cuda_heat)
        summary = run(gextrace, trace)
        expect("gex_RMA_PutNBI, device memory by messages", summary)
        expect("gex_RMA_GetBlocking, device memory by copies", summary)
        timeline = run(gextrace, "-o", "-", trace)
        expect('"device_memory":"by messages"', timeline)
    for call, test in (("gex_RMA_PutBlocking", "unanswered"), ("gex_VIS_StridedPutBlocking", "unanswered_strided")):
        report = run(gexrun, "-n", "2", *APART, "--hang-after", "1", "--hang-action", "end", cuda_test, test)
        expect(f"{call} for a put of 24 bytes with rank 1 (memory of a device, by messages)", report)


if __name__ == "__main__":
    main()
