#!/usr/bin/env python3
"""Has each function of CUDA's driver fail, at its first calls, in a job over the tests' driver.

    failures.py FUNCTIONS GEXRUN CUDA_TEST

Each job either works all the same, or ends with a line that names the function that has failed, or with
the check of the test program whose own call it was. No job may crash or hang.
"""

import os
import re
import subprocess
import sys

SECONDS = 60


def fault_of(name, number, command):
    environment = os.environ | {"FAKE_CUDA_FAIL": f"{name}:{number}", "GEX_CONDUIT": "smp"}
    try:
        job = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                             timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not ended after {SECONDS} s"
    output = job.stdout + job.stderr
    if re.search(r"signal (4|6|7|8|11)\b|Segmentation|backtrace", output):
        return "a crash:\n" + output
    plain = re.sub("_v[0-9]$", "", name)
    if job.returncode != 0 and plain not in output and "cuda_test: rank" not in output:
        return f"status {job.returncode} without a reason:\n" + output
    return ""


def main():
    functions, gexrun, program = sys.argv[1:]
    with open(functions, encoding="utf-8") as file:
        names = re.findall(r"\bcu[A-Z]\w+", re.sub("//.*", "", file.read()))
    assert len(names) > 30, names
    faults = [f"{name}, call {number}: {fault}"
              for name in names for number in (1, 3)
              if (fault := fault_of(name, number, [gexrun, "-n", "2", program]))]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
