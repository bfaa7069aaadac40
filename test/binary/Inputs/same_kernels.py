#!/usr/bin/env python3
"""same_kernels.py A/kernels.h B/kernels.h: the same kernels, in any order, comments aside."""

import difflib
import sys


def code(path):
    """The lines of all kernels, sorted by kernel: they are defined in the order of their first launches."""
    with open(path) as file:
        text = "\n".join(line for line in file.read().split("\n") if not line.lstrip().startswith("//"))
    return "\n}\n".join(sorted(kernel.strip("\n") for kernel in text.split("\n}\n"))).split("\n")


def main():
    one, other = map(code, sys.argv[1:])
    if one != other:
        sys.exit("\n".join(difflib.unified_diff(one, other, *sys.argv[1:], lineterm="")))
    print(sum(line.startswith("static void") for line in one), "kernels")


if __name__ == "__main__":
    main()
