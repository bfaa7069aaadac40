#!/usr/bin/env python3
"""Checks that every numbered constraint that the manual of a dialect names (mesh_c1)
stands at a check in its sources and at a test that expects an error.

usage: check_constraints.py DIALECT-FOLDER TEST-FOLDER
"""

import pathlib
import re
import sys

LABEL = re.compile(r"\b(\w+)_c(\d+)\b")


def labels(paths):
    """The labels in some files; "gather_c1 to c3" and "reduce_c1 and c2" name them all."""
    found = set()
    for path in paths:
        text = path.read_text()
        found |= {match.group(0) for match in LABEL.finditer(text)}
        for match in re.finditer(r"\b(\w+)_c(\d+)\s+(to|and)\s+c(\d+)\b", text):
            name, first, _, last = match.groups()
            found |= {f"{name}_c{number}" for number in range(int(first), int(last) + 1)}
    return found


def main():
    dialect, tests = map(pathlib.Path, sys.argv[1:])
    manual = labels(dialect.glob("*.td"))
    missing = 0
    for what, there in (("check", labels(dialect.glob("*.cpp"))), ("test", labels(tests.glob("*invalid*.mlir")))):
        for label in sorted(manual - there):
            missing += 1
            print(f"{label} has no {what}")
        for label in sorted(there - manual):
            missing += 1
            print(f"{label} is in a {what}, but not in the manual")
    print(f"{len(manual)} constraints")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
