#!/usr/bin/env python3
"""same_plan.py A.json B.json: compares two memory plans, compile times aside."""

import json
import sys


def main():
    one, other = (json.load(open(path)) for path in sys.argv[1:])
    for plan in (one, other):
        plan.pop("compile_seconds", None)
    if one != other or not one["tensors"]:
        sys.exit("the plans differ")


if __name__ == "__main__":
    main()
