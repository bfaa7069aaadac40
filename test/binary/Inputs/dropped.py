#!/usr/bin/env python3
"""dropped.py ONE.jsonl OTHER.jsonl: both runs dropped the same choices of experts in each step."""

import json
import sys


def dropped(path):
    with open(path, encoding="utf-8") as file:
        return [line["dropped"] for line in map(json.loads, file) if "loss" in line]


def main():
    one, other = map(dropped, sys.argv[1:])
    if one != other:
        sys.exit(f"{sys.argv[1]} has dropped {one}, and {sys.argv[2]} {other}")
    *first, last = [f"{count:g}" for count in one]
    print(f"{len(one)} steps with {', '.join(first)} and {last} dropped")


if __name__ == "__main__":
    main()
