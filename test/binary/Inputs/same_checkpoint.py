#!/usr/bin/env python3
"""same_checkpoint.py A B

Compares two checkpoints, or directories of them: the same files to the bit, but for the
ids of their jobs and the checksums over those."""

import json
import os
import struct
import sys


def content(path):
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".json"):
        index = json.loads(data)
        return index["job"].pop("job_id"), index.pop("index_xxh3"), index
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    return header["__metadata__"].pop("job_id"), header["__metadata__"].pop("header_xxh3"), (length, header, data[8 + length:])


def files(path):
    if not os.path.isdir(path):
        return {"": path}
    return {os.path.relpath(os.path.join(folder, name), path): os.path.join(folder, name)
            for folder, _, names in os.walk(path) for name in names}


def main():
    one, other = files(sys.argv[1]), files(sys.argv[2])
    if one.keys() != other.keys():
        sys.exit(f"only one has {sorted(one.keys() ^ other.keys())}")
    for name, path in one.items():
        if content(path)[2] != content(other[name])[2]:
            sys.exit(f"{path} and {other[name]} differ")
    print(f"{len(one)} files agree")


if __name__ == "__main__":
    main()
