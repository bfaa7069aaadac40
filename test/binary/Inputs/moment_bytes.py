#!/usr/bin/env python3
"""Are a plan's moments in 8 bits as many bytes as codes and scales take?

    moment_bytes.py F32.json INT8.json

A moment of n numbers has n bytes of codes and 4 for each block of 32 to 128, or 2n in bf16.
"""

import json
import sys


def moments(path):
    plan = json.load(open(path))
    tensors = plan["programs"]["train"]["tensors"]
    found = {t["name"]: t["bytes"] for t in tensors if t["category"] == "optimizer_state"}
    state = plan["persistent"]["optimizer_state"]
    total = state["bytes"] - state["padding_bytes"]
    if total != sum(found.values()):
        sys.exit(f"{path}: moments have {total} bytes, their tensors {sum(found.values())}")
    return found


def main():
    wide, stored = moments(sys.argv[1]), moments(sys.argv[2])
    for name, size in wide.items():
        numbers, scales = size // 4, stored.pop(f"{name}.scale", None)
        own = stored.pop(name)
        if own != (numbers if scales else 2 * numbers):
            sys.exit(f"{name}: {numbers} numbers have {own} bytes")
        if scales and not 32 <= 4 * numbers / scales <= 128:
            sys.exit(f"{name}: scales of {numbers} numbers have {scales} bytes")
    if stored:
        sys.exit(f"{', '.join(stored)}: no moment of that name in f32")


if __name__ == "__main__":
    main()
