#!/usr/bin/env python3
"""tiers.py catches a test that has vanished, whatever its name was meant to become."""

import sys

import tiers

OLD = [["check", "job.a"], ["check", "job.b"], ["exhaustive", "job.c.ofi"], ["check", "unit.d"]]
NOW = {"job.a": "check", "job.b.first": "check", "job.b.rest": "jobs", "job.c.ofi": "cover",
       "unit.dd": "check"}
RENAMES = [[r"job\.(b)", r"job.\1.first", r"job.\1.rest"], [r"unit\.d", "unit.dd"]]
NEEDS = [["ofi", r"\.ofi$"]]


def judged(now, renames=None, lacks=()):
    rules = [tiers.Rename(*words) for words in RENAMES + (renames or [])]
    return tiers.judge(OLD, now, rules, NEEDS, set(lacks))


def expect(condition, what):
    if not condition:
        sys.exit(f"tiers_test.py: {what}")


def without(name):
    return {other: tier for other, tier in NOW.items() if other != name}


rows, complaints = judged(NOW)
expect(complaints == [], f"complaints about nothing: {complaints}")
expect(rows == [("job.a", "check", "check"), ("job.b", "check", "check and jobs"),
                ("job.c.ofi", "exhaustive", "cover"), ("unit.d", "check", "check")], f"{rows}")
for vanished, old in (("job.a", "job.a"), ("job.b.first", "job.b"), ("job.b.rest", "job.b"),
                      ("job.c.ofi", "job.c.ofi"), ("unit.dd", "unit.d")):
    _, complaints = judged(without(vanished))
    expect(complaints == [f"{old} has vanished: there is no {vanished}"], f"{vanished}: {complaints}")
rows, complaints = judged(without("job.c.ofi"), lacks=["ofi"])
expect(complaints == [] and ("job.c.ofi", "exhaustive", "absent: no ofi") in rows,
       f"what a build lacks may be absent: {complaints}")
_, complaints = judged(NOW, [["unit.e", "unit.f"]])
expect(complaints == ["renames.txt: no old entry matches unit.e"], f"a stale rule: {complaints}")
