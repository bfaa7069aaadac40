#!/usr/bin/env python3
"""initial_copies.py TRACE CHECKPOINTS: what a training program copied to its persistent tensors before its first
program, and what it set to zero there, beside the bytes of parameters and of all other tensors."""
import json
import pathlib
import sys


def tensors(folder):
    """Returns names and bytes of the newest checkpoint's tensors."""
    data = max(pathlib.Path(folder).glob("step-*.safetensors")).read_bytes()
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    return {name: entry["data_offsets"][1] - entry["data_offsets"][0] for name, entry in header.items() if name != "__metadata__"}


def main(trace, folder):
    sizes = tensors(folder)
    # Persistent tensors come first in the arena, each at a multiple of 256 bytes.
    end = sum(-(-size // 256) * 256 for size in sizes.values())
    arena, moved = None, {"copy": 0, "memset": 0}
    for line in map(json.loads, open(trace)):
        if line["op"] == "allocate" and line["device"] >= 0 and line["bytes"] >= end and arena is None:
            arena = line["allocation"]
        if "run" in line:
            break
        if line["op"] in moved:
            moved[line["op"]] += sum(high - low for which, low, high in line["writes"] if which == arena and high <= end)
    parameters = sum(size for name, size in sizes.items() if not name.endswith((".exp_avg", ".exp_avg_sq")))
    print(f"copied {moved['copy']} bytes of {parameters} of parameters, "
          f"set {moved['memset']} bytes to zero of {sum(sizes.values()) - parameters} of the rest")


main(*sys.argv[1:])
