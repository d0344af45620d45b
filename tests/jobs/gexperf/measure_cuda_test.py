#!/usr/bin/env python3
"""Runs tools/measure-cuda over a driver for tests and checks what it writes.

    measure_cuda_test.py MEASURE_CUDA BUILD_FOLDER DRIVER
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROW = "cuda.put.host.device.8"


def check(condition, what):
    if not condition:
        sys.exit(f"measure_cuda_test.py: {what}")


def environment_for(driver):
    return {**os.environ, "GEX_CUDA_LIBRARY": driver, "PYTHONDONTWRITEBYTECODE": "1"}


def measure(driver, script, *options):
    done = subprocess.run([script, *options], text=True, check=False, env=environment_for(driver),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(done.stdout, done.stderr, sep="")
    return done


def rows_when_ended_early(driver, script, file, *options):
    """Ends it as soon as a row is there."""
    process = subprocess.Popen([script, *options], env=environment_for(driver), start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = []
    while process.poll() is None and not rows:
        rows = json.loads(file.read_text())["rows"] if file.exists() else []
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return [row["name"] for row in rows]


def main():
    script, tree, driver = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "seen.json"
        options = ("--tree", tree, "--json", str(file), "--rounds", "1", "--rows", ROW, "--tests")
        done = measure(driver, script, *options, "descriptor", "heat")
        check(done.returncode == 0, f"exit status {done.returncode}")
        seen = json.loads(file.read_text())
        check(seen["format"] == "libgex measure-cuda 2" and seen["not_run"] == [] and seen["finished"], "not finished, or another format")
        check([(test["name"], test["passed"]) for test in seen["tests"]] ==
              [("descriptor", True), ("heat", True)], f"tests: {seen['tests']}")
        check([(row["name"], row["fake_device"]) for row in seen["rows"]] == [(ROW, True)],
              f"rows: {seen['rows']}")
        check([device["name"] for device in seen["devices"]] == ["Fake device 0", "Fake device 1"],
              f"devices: {seen['devices']}")
        check("2 of 2 tests passed" in done.stdout and "a driver for tests" in done.stdout, "not printed so")

        # No time for a test: what was not run is named, and no failure.
        done = measure(driver, script, *options, "heat", "--seconds", "5")
        seen = json.loads(file.read_text())
        check(done.returncode == 0 and seen["tests"] == [], f"exit status {done.returncode}")
        check([each["name"] for each in seen["left_out"]] == seen["not_run"] == ["test heat"],
              f"left out: {seen['left_out']}")

        # Ended early, it leaves the first row, and the names of the rest.
        file.unlink()
        check(rows_when_ended_early(driver, script, file, *options, "heat") == [ROW], "no row was left")
        seen = json.loads(file.read_text())
        check(seen["not_run"] == ["test heat"] and not seen["finished"], f"not run: {seen['not_run']}")

        done = measure("no-driver.so", script, *options)
        check(done.returncode == 1 and
              done.stderr.startswith("measure-cuda: there is no CUDA device: no-driver.so: cannot open"),
              "not ended for a missing driver")
        check(json.loads(file.read_text())["finished"] is False, "finished without a device")


if __name__ == "__main__":
    main()
