#!/usr/bin/env python3
"""Has each function of CUDA's driver fail, at its first calls, in a job over the tests' driver.

    failures.py FUNCTIONS GEXRUN CUDA_TEST

Each job either works all the same, or ends with a line that names the function that has failed, or with
the check of the test program whose own call it was. No job may crash or hang. Ranks share memory in
some, and exchange messages in the others.
"""

import os
import re
import subprocess
import sys

SECONDS = 60
SHARED = {"GEX_CONDUIT": "smp"}
APART = {"GEX_CONDUIT": "emu", "GASNET_SUPERNODE_MAXSIZE": "1"}
# Each way, and the call that fails.
WAYS = ((SHARED, 1), (SHARED, 3), (APART, 2), (APART, 40))
# Not among the functions that every driver has.
OPTIONAL = ["cuMemcpyBatchAsync"]
# Called by reports alone: gexinfo.
OF_REPORTS = ["cuDriverGetVersion", "cuDeviceGetName", "cuDeviceTotalMem_v2"]
# Networks call the first, of which there is none here; the second is called once another has failed.
NOT_CALLED = ["cuMemGetHandleForAddressRange", "cuGetErrorName"]
MARK = "libcuda-fake.so: fails as asked: "


def fault_of(name, way, number, command):
    environment = os.environ | way | {"FAKE_CUDA_FAIL": f"{name}:{number}", "FAKE_CUDA_SHOW_FAILURE": "1"}
    try:
        job = subprocess.run(command, env=environment, capture_output=True, text=True, check=False,
                             timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not ended after {SECONDS} s"
    everything = job.stdout + job.stderr
    # What the driver for tests prints is not what libgex does.
    output = "".join(line for line in everything.splitlines(True) if MARK not in line)
    if number == 1 and MARK not in everything and name not in NOT_CALLED:
        return "not called"
    if re.search(r"signal (4|6|7|8|11)\b|Segmentation|backtrace", output):
        return "a crash:\n" + output
    plain = re.sub("_v[0-9]$", "", name)
    if job.returncode != 0 and plain not in output and "cuda_test: rank" not in output:
        return f"status {job.returncode} without a reason:\n" + output
    return ""


def main():
    functions, gexrun, program = sys.argv[1:]
    reports = os.path.join(os.path.dirname(gexrun), "gexinfo")
    with open(functions, encoding="utf-8") as file:
        names = re.findall(r"\bcu[A-Z]\w+", re.sub("//.*", "", file.read()))
    assert len(names) > 30, names
    faults = [f"{name}, call {number}: {fault}"
              for name in names + OPTIONAL for way, number in WAYS
              if (fault := fault_of(name, way, number, [gexrun, "-n", "2", reports if name in OF_REPORTS else program]))]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
