#!/usr/bin/env python3
"""The trace of a UPC++ program: waits by their place, personas, and the tasks that they run.

    trace_test.py GEXRUN GEXTRACE JOB_TEST
"""

import json
import os
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True, timeout=100).stdout


def main():
    gexrun, gextrace, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace")
        run(gexrun, "-n", "2", "--trace", trace, program)
        summary = json.loads(run(gextrace, "--summary=json", trace))
        timeline = os.path.join(folder, "timeline.json")
        run(gextrace, "-o", timeline, trace)
        with open(timeline, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    intervals = {interval["name"]: interval["count"] for interval in summary["intervals"]}
    for begin in ("future::wait (job_test.cc:", "master persona", "upcxx::barrier",
                  "task job_test(+0x"):
        if not any(name.startswith(begin) for name in intervals):
            sys.exit(f"no interval {begin}: {intervals}")
    spans = [event for event in events if event.get("cat") == "annotation"]
    if len(spans) != sum(intervals.values()):
        sys.exit(f"{len(spans)} intervals in the timeline, {sum(intervals.values())} in the summary")
    # Calls within an interval are counted as those outside.
    in_calls = sum(rank["in_calls"] for rank in summary["ranks"])
    if in_calls <= 0 or any(rank["in_calls"] > rank["end"] - rank["begin"] for rank in summary["ranks"]):
        sys.exit(f"time in calls: {summary['ranks']}")


if __name__ == "__main__":
    main()
