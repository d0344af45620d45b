#!/usr/bin/env python3
"""Runs tools/measure-cores and checks what it writes.

    measure_cores_test.py TEST MEASURE_CORES BUILD_FOLDER
"""

import json
import pathlib
import subprocess
import sys
import tempfile

BUILD_KEYS = ["name", "tree", "programs", "version", "library_sha256"]
RESULT_KEYS = ["value", "limit", "ratio", "budget", "budget_of", "runs", "quiet_runs", "times_one_thread",
               "values"]


def check(condition, what):
    if not condition:
        sys.exit(f"measure_cores_test.py: {what}")


def measure(script, tree, *options, status=0):
    """Runs the script on a build; its JSON and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "figures.json"
        done = subprocess.run([script, "--tree", tree, "--json", file, *options], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        print(done.stdout, done.stderr, sep="")
        check(done.returncode == status, f"exit status {done.returncode}, not {status}")
        return json.loads(file.read_text()), done.stdout


def refused(expected, *command):
    done = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 1 and done.stdout == "" and done.stderr == f"measure-cores: {expected}\n",
          f"not refused with '{expected}': status {done.returncode}, {done.stderr}")


def tree_of(folder, gexperf):
    """A tree with a shell script for gexperf, and nothing else that can be run."""
    root = pathlib.Path(folder)
    (root / "bin").mkdir()
    (root / "lib").mkdir()
    (root / "lib/libgex.so.2").write_text("a library")
    for program, text in (("gexperf", gexperf), ("gexrun", "exit 3")):
        (root / "bin" / program).write_text(f"#!/bin/sh\n{text}\n")
        (root / "bin" / program).chmod(0o755)
    return root


def fake_gexperf(values, counter=None):
    """A gexperf that has the rows named, whose value in the n-th run is n times the one given."""
    def row_object(name):
        return {"name": name, "group": name.split(".")[0], "size": "a size",
                "unit": "M/s" if ".flood." in name else "ns", "cores": 2,
                "left_out": "needs 64 cores, and may use 2" if name.endswith(".64") else None}
    lines = ['case "$1" in', "--version) echo version;;",
             f"--list) cat <<'END'\n{json.dumps([row_object(name) for name in values])}\nEND\n;;"]
    run = f'n=$(($(cat "{counter}" 2>/dev/null || echo 0) + 1)); echo $n > "{counter}"' if counter else "n=1"
    for name, value in values.items():
        lines.append(f'{name}) {run}; echo "[{{\\"name\\":\\"{name}\\",\\"value\\":$(({value} * n)),'
                     '\\"limit\\":10,\\"ratio\\":2,\\"budget\\":1.2,\\"budget_of\\":\\"ratio\\",'
                     '\\"accepted\\":1,\\"runs\\":1}]";;')
    return "\n".join([*lines, "*) exit 9;; esac"])


def test_quick(script, tree):
    """The dry run with two real builds, here twice the same."""
    report, text = measure(script, tree, "--with", tree, "--quick")
    check(report["format"] == "libgex measure-cores 1" and report["quick"] is True, "another format")
    check(report["alternations"] == 1, f"{report['alternations']} alternations")
    check([build["name"] for build in report["builds"]] == ["this", "other"], "not two builds")
    for build in report["builds"]:
        check(list(build) == BUILD_KEYS and build["programs"] == "own", f"a build: {build}")
    measured = [row["name"] for row in report["rows"]]
    expected = {"threads.flood.1", "threads.mixed.1", "cores.barrier.2", "cores.hot_spot.2"}
    has_ft = (pathlib.Path(tree) / "bin/ft").exists()
    if has_ft:
        expected |= {name for name in measured if name.startswith("ft.S.pencils.")} or {"ft.S.pencils.2"}
    check(expected <= set(measured), f"rows: {measured}")
    left_out = {row["name"]: row["reason"] for row in report["left_out"]}
    check(not set(measured) & set(left_out), "a row is measured and left out")
    check(len(measured) + len(left_out) == 62 + 3, f"{len(measured)} rows and {len(left_out)} left out")
    for row in report["rows"]:
        check(row["cores"] <= report["machine"]["cores"], f"{row['name']}: too few cores for it")
        check(list(row["results"]) == ["this", "other"] and row["faster"] > 0, f"{row['name']}: {row}")
        for found in row["results"].values():
            check(list(found) == RESULT_KEYS, f"{row['name']}: {list(found)}")
            limited = row["group"] != "ft"
            check(found["value"] > 0 and (found["limit"] is not None) == limited and
                  (found["ratio"] is not None) == limited, f"{row['name']}: {found}")
            check(found["runs"] == len(found["values"]) == 1, f"{row['name']}: {found['runs']} runs")
            one = found["times_one_thread"]
            check(one > 0 if row["group"] == "threads" else one is None, f"{row['name']}: {one} times one")
        check(row["name"] in text, f"{row['name']} is not in the table")
    for name, reason in left_out.items():
        expected = "this: there is no bin/ft" if name.startswith("ft.") and not has_ft else " cores, and may use "
        check(expected in reason and name in text, f"{name} left out: {reason}")


def test_figures(script, tree):
    """Medians of the alternations, multiples of one thread, and the two builds compared."""
    with tempfile.TemporaryDirectory() as folder:
        this, other = pathlib.Path(folder) / "this", pathlib.Path(folder) / "other"
        this.mkdir()
        other.mkdir()
        names = ("threads.flood.1", "threads.flood.4", "threads.flood.scaling.4", "threads.rtt.1",
                 "threads.rtt.4", "cores.barrier.64")
        tree_of(this, fake_gexperf(dict(zip(names, (10, 30, 1, 100, 200, 1)))))
        counter = pathlib.Path(folder) / "counter"
        tree_of(other, fake_gexperf(dict(zip(names, (10, 10, 1, 100, 50, 1))), counter))
        report, _ = measure(script, this, "--with", other, "--alternations", "3", "--rows", "threads")
    rows = {row["name"]: row for row in report["rows"]}
    check(list(rows) == ["threads.flood.1", "threads.flood.4", "threads.rtt.1", "threads.rtt.4"],
          f"rows: {list(rows)}")
    check(report["alternations"] == 3, f"{report['alternations']} alternations")
    here = {name: row["results"]["this"] for name, row in rows.items()}
    check(here["threads.flood.4"]["values"] == [30, 30, 30], "not each row three times")
    check(here["threads.flood.4"]["times_one_thread"] == 3, "30 M/s are 3 times 10 M/s")
    check(here["threads.rtt.4"]["times_one_thread"] == 2, "four threads in twice the time: twice the rate")
    # The other build was run for the 2nd, 6th and 10th time.
    there = rows["threads.flood.4"]["results"]["other"]
    check(there["values"] == [20, 60, 100] and there["value"] == 60, f"no median: {there}")
    check(rows["threads.flood.4"]["faster"] == 0.5, "30 M/s are half of 60 M/s")
    there = rows["threads.rtt.1"]["results"]["other"]
    check(rows["threads.rtt.1"]["faster"] == there["value"] / 100, "the shorter time is not the faster")
    check(report["left_out"] == [{"name": "cores.barrier.64", "reason": "needs 64 cores, and may use 2",
                                  "failed": False}], f"left out: {report['left_out']}")


def test_borrowed(script, tree):
    """A build whose gexperf has no such rows is measured by the other's; its own launcher and
    library are used."""
    with tempfile.TemporaryDirectory() as folder:
        other = tree_of(folder, "exit 2")
        (other / "lib/libgex.so.2").unlink()
        (other / "lib/libgex.so.2").symlink_to(pathlib.Path(tree).resolve() / "lib/libgex.so.2")
        words = ("--quick", "--rows", "cores.barrier.2")
        report, _ = measure(script, tree, "--with", other, *words, status=1)
        check(report["builds"][1]["programs"] == "borrowed", "whose programs?")
        check(report["left_out"] == [{
            "name": "cores.barrier.2", "failed": True,
            "reason": "other: gexperf: cores.barrier.2: the measuring job failed: exit status 3"}],
            f"its launcher was not used: {report['left_out']}")
        (other / "bin/gexrun").unlink()
        (other / "bin/gexrun").symlink_to(pathlib.Path(tree).resolve() / "bin/gexrun")
        report, text = measure(script, tree, "--with", other, *words)
        check(list(report["rows"][0]["results"]) == ["this", "other"], "the other build was not measured")
        check("measured by the programs of this" in text, "the table does not state whose programs")


def test_failing(script, tree):
    """It ends, long before its time, when nothing is left to measure."""
    with tempfile.TemporaryDirectory() as folder:
        this = tree_of(folder, f"[ $1 = --list ] || {{ echo why >&2; exit 1; }}\n{fake_gexperf({'threads.put.1': 1})}")
        report, _ = measure(script, this, "--rows", "threads", status=1)
    check(report["rows"] == [] and report["left_out"] == [
        {"name": "threads.put.1", "failed": True, "reason": "this: why"}], f"{report['left_out']}")
    with tempfile.TemporaryDirectory() as folder:
        this = tree_of(folder, fake_gexperf({"threads.put.64": 1}))
        report, _ = measure(script, this)
    check(report["rows"] == [] and report["alternations"] == 0, "something was measured")


def test_refused(script, tree):
    with tempfile.TemporaryDirectory() as folder:
        refused(f"{folder} holds no libgex.so: name a build folder or an installation", script, "--tree",
                folder)
        root = tree_of(folder, "exit 2")
        (root / "bin/gexperf").unlink()
        refused(f"{root.resolve()}/bin/gexperf is missing", script, "--tree", folder)
        (root / "bin/gexrun").unlink()
        refused(f"{folder}/bin/gexrun is missing", script, "--tree", folder)
    refused("--rounds, --seconds and --alternations are at least 1", script, "--tree", tree, "--seconds", "0")


def test_no_time(script, tree):
    """Rows that do not fit into the time are named."""
    with tempfile.TemporaryDirectory() as folder:
        # More rows than processes can be started in that time.
        rows = [f"threads.put.{n}" for n in range(1001, 1401)]
        this = tree_of(folder, fake_gexperf(dict.fromkeys(rows, 5)))
        report, text = measure(script, this, "--seconds", "0.05", "--alternations", "1")
    names = [row["name"] for row in report["rows"]]
    late = [row["name"] for row in report["left_out"] if not row["name"].startswith("ft.")]
    check(names and late and names + late == rows, f"measured {len(names)}, left out {len(late)} of {len(rows)}")
    check(report["alternations"] == 0, f"{report['alternations']} alternations have ended")
    check({row["reason"] for row in report["left_out"]} ==
          {"this: no time was left", "this: there is no bin/ft"}, "another reason")
    check("Left out (this: no time was left): " in text, "the table does not name them")


if __name__ == "__main__":
    globals()[f"test_{sys.argv[1]}"](*sys.argv[2:])
