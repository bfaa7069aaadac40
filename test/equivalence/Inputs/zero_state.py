#!/usr/bin/env python3
"""zero_state.py IN.safetensors OUT.safetensors

Copies the tensors of a file, those whose name ends in .momentum_buffer as zeros and
without those that are results: what a program needs to run from the start, so
that an update of a momentum is the gradient."""

import json
import struct
import sys


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    kept, out = {}, b""
    for name, tensor in header.items():
        if name.startswith("updates ") or name == "loss":
            continue
        begin, end = tensor["data_offsets"]
        kept[name] = dict(tensor, data_offsets=[len(out), len(out) + end - begin])
        out += bytes(end - begin) if name.endswith(".momentum_buffer") else data[begin:end]
    text = json.dumps(kept).encode()
    with open(target, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + out)


if __name__ == "__main__":
    main()
