#!/usr/bin/env python3
"""Reads programs in memory and prints for each the largest number of bytes that gathered
parameters take at once."""

import re
import sys

BUFFER = re.compile(r'exec\.buffer .* bytes (\d+) live (\d+) to (\d+) category gathered')
program, lives = None, []


def finish():
    if program:
        peak = max((sum(size for size, first, last in lives if first <= at <= last) for _, at, _ in lives), default=0)
        print(f"{program}: {peak} bytes of parameters gathered at once")


for line in sys.stdin:
    if found := re.search(r"exec\.program @(\w+)", line):
        finish()
        program, lives = found[1], []
    elif found := BUFFER.search(line):
        lives.append(tuple(map(int, found.groups())))
finish()
