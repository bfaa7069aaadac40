#!/usr/bin/env python3
"""listed_refusals.py Parallelism.md < OUTPUT of scripts/check --random

What braidc refused has to be a message of the table under "What is refused", whose first column has an ellipsis for
names and numbers.  Prints the output, and fails where something differed or was refused otherwise.
"""

import pathlib
import re
import sys


def rows(page):
    """The messages of the table."""
    section = pathlib.Path(page).read_text().split("\n## What is refused\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def pattern(message):
    return ".*".join(map(re.escape, message.split("…")))


def main():
    known, output = list(map(pattern, rows(sys.argv[1]))), sys.stdin.read()
    print(output, end="")
    refused = re.findall(r"^refused \d+: (.*)", output, re.MULTILINE)
    unknown = [line for line in refused if not any(re.search(message, line) for message in known)]
    for line in unknown:
        print(f"not in {sys.argv[1]}: {line}")
    return bool(unknown) or not re.search(r"^\d+ drawn: [1-9]\d* same, \d+ refused, 0 differ$", output, re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main())
