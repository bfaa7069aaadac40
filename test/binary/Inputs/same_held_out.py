#!/usr/bin/env python3
"""same_held_out.py RTOL FILE...

Compares the held-out losses that `eval` printed: of the same tokens, and the same
within a relative tolerance."""

import re
import sys


def read(path):
    with open(path) as file:
        loss, tokens = re.fullmatch(r"held-out loss (\S+) over [\d,]+ batches, (\S+) tokens(?:; .*)?\n", file.read()).groups()
    return float(loss), tokens


def main():
    tolerance = float(sys.argv[1])
    losses = {path: read(path) for path in sys.argv[2:]}
    first = next(iter(losses.values()))
    for path, (loss, tokens) in losses.items():
        if tokens != first[1] or not abs(loss - first[0]) <= tolerance * abs(first[0]):
            sys.exit(f"{path}: {loss!r} over {tokens} tokens, but {first[0]!r} over {first[1]} in the first")
    print(f"{len(losses)} held-out losses agree")


if __name__ == "__main__":
    main()
