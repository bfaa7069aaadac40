#!/usr/bin/env python3
"""Checks the code on a page: check_excerpts.py PAGE.md ROOT

Behind `<!-- FILE -->` stands a block of code whose lines are those of the file, in this
order; lines `…` stand for what is left out.
"""

import pathlib
import re
import sys

EXCERPT = re.compile(r"<!-- ([\w./-]+) -->\n```\w+\n(.*?)```", re.S)


def missing(text, excerpt):
    """Returns the first part of an excerpt that the file lacks, or nothing."""
    at = 0
    for part in re.split(r"^ *…\n", excerpt, flags=re.M):
        found = text.find(part, at)
        if found < 0:
            return part
        at = found + len(part)
    return None


def main():
    page, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    excerpts, wrong = EXCERPT.findall(page.read_text()), 0
    for name, excerpt in excerpts:
        part = missing((root / name).read_text(), excerpt)
        if part is not None:
            wrong += 1
            print(f"{name} does not have, at its place:\n{part}")
    print(f"{len(excerpts)} excerpts, {wrong} wrong")
    return 1 if wrong or not excerpts else 0


if __name__ == "__main__":
    sys.exit(main())
