#!/usr/bin/env python3
"""same_graph.py A.mlir B.mlir

Compares the functions of two modules as graphs: the same ops on the same operands,
whatever their order and the names of their values.  Of ops that nothing tells apart, one
counts."""

import re
import sys

VALUE = re.compile(r"%[\w.]+(?:#\d+)?")
MADE = re.compile(r"^\s*(%[\w.]+)(?::\d+)? = (.*)$")


def graphs(path):
    """By function, what each of its ops is, down to arguments."""
    found, known, name = {}, {}, None
    for line in open(path):
        if start := re.search(r"func\.func @(\w+)", line):
            name, known = start.group(1), {}
            found[name] = set()
        elif name:
            made = MADE.match(line)
            # A value is what makes it; a number stands for each text, so that texts stay short.
            text = VALUE.sub(lambda value: described(value.group(), known), (made.group(2) if made else line).strip())
            if made:
                known[made.group(1)] = str(hash(text))
            found[name].add(text)
    return found


def described(value, known):
    base, _, result = value.partition("#")
    return f"<{known.get(base, base)}#{result}>"


def main():
    one, other = graphs(sys.argv[1]), graphs(sys.argv[2])
    if one.keys() != other.keys() or not one:
        sys.exit(f"functions {sorted(one)} and {sorted(other)}")
    for name in one:
        if one[name] != other[name]:
            sys.exit(f"@{name}: {len(one[name] - other[name])} and {len(other[name] - one[name])} ops of their own")
    print(f"{len(one)} functions agree")


if __name__ == "__main__":
    main()
