"""Checks the invariants of a profile.

  check_profile.py PROFILE.json STEP.cpp|- PROGRAM=RUNS...

The programs have so many runs.  Each action that STEP.cpp announces is there, in order; times and
sums are of one run, and agree with each other.
"""

import json
import math
import pathlib
import re
import sys


def announced(path, program):
    """Returns the number of actions of a program."""
    text = pathlib.Path(path).read_text()
    body = re.search(r"^namespace at::step_%s \{\n(.*?)\n\} // namespace at::" % program, text, re.DOTALL | re.MULTILINE)[1]
    marks = [int(mark) for mark in re.findall(r"m\.at\((\d+)\);", body)]
    assert marks == list(range(len(marks))), marks
    return len(marks)


def check_sums(program, group, key):
    rows = program[group]
    having = [action for action in program["actions"] if key in action]
    assert sum(row["actions"] for row in rows) == len(having), group
    assert len({row["name"] for row in rows}) == len(rows), group
    for row in rows:
        its = [action for action in having if action[key] == row["name"]]
        assert len(its) == row["actions"], row
        for number in ("seconds", "fastest", "flops", "bytes", "limit"):
            assert math.isclose(row.get(number, 0), sum(action.get(number, 0) for action in its), rel_tol=1e-6), (row, number)
    assert [row["seconds"] for row in rows] == sorted((row["seconds"] for row in rows), reverse=True), group


def check_program(program, rates):
    actions = program["actions"]
    assert math.isclose(program["seconds"], sum(action["seconds"] for action in actions), rel_tol=1e-6)
    for action in actions:
        assert 0 <= action["fastest"] <= action["seconds"] * (1 + 1e-9), action
        if action["op"] == "matmul":
            assert action["flops"] > 0 and action["kernel"].startswith("matmul "), action
            assert action["limit"] >= action["bytes"] / rates["bytes_per_second"] * (1 - 1e-9), action
        if action["op"] in ("launch", "matmul"):
            assert action["bytes"] > 0 and action["limit"] > 0, action
    for group, key in (("kernels", "kernel"), ("ops", "op"), ("units", "unit"), ("phases", "phase")):
        check_sums(program, group, key)
    assert sum(row["actions"] for row in program["kernels"]) == len(actions)
    assert sum(row["actions"] for row in program["ops"]) == len(actions)


profile = json.loads(pathlib.Path(sys.argv[1]).read_text())
assert all(rate >= 0 for rate in profile["rates"].values()) and profile["rates"]["f32_flops"] > 0, profile["rates"]
programs = {program["program"]: program for program in profile["programs"]}
for expected in sys.argv[3:]:
    name, runs = expected.split("=")
    assert programs[name]["runs"] == int(runs), (name, programs[name]["runs"])
    if sys.argv[2] != "-":
        assert announced(sys.argv[2], name) == len(programs[name]["actions"]) > 0
for its in programs.values():
    check_program(its, profile["rates"])
