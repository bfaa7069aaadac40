#!/usr/bin/env python3
"""bad_weights.py FOLDER BAD: folders in BAD as FOLDER, which has model.safetensors, but none that can be used."""

import json
import pathlib
import shutil
import struct
import sys

FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"


class Bad:
    def __init__(self, source, target):
        self.source, self.target = source, target
        self.whole = (source / "model.safetensors").read_bytes()
        length, = struct.unpack_from("<Q", self.whole)
        self.header, self.data = json.loads(self.whole[8:8 + length]), self.whole[8 + length:]

    def folder(self, name):
        folder = self.target / name
        if not folder.exists():
            folder.mkdir(parents=True)
            shutil.copy(self.source / "config.json", folder)
        return folder

    def write(self, name, file, content):
        """Bytes as they are, anything else as JSON."""
        (self.folder(name) / file).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())

    def changed(self, change):
        """The file with another header."""
        header = json.loads(json.dumps(self.header))
        change(header)
        text = json.dumps(header).encode()
        return struct.pack("<Q", len(text)) + text + self.data


def make(bad):
    names = [name for name in bad.header if name != "__metadata__"]
    index = {"weight_map": {name: FIRST for name in names}}
    bad.folder("no-files")
    bad.write("pickle", "pytorch_model.bin", b"\x80\x02")
    bad.write("adapter", "adapter_model.safetensors", bad.whole)
    for name in ("no-index", "half-index", "wrong-index", "list-index", "outside-index"):
        bad.write(name, FIRST, bad.changed(lambda header: None))
    bad.write("no-index", SECOND, bad.whole)
    bad.write("half-index", INDEX, {"weight_map": index["weight_map"] | {names[0]: SECOND}})
    bad.write("wrong-index", FIRST, bad.changed(lambda header: header.update(other=header.pop("lm_head.weight"))))
    bad.write("wrong-index", INDEX, index)
    bad.write("list-index", INDEX, {"weight_map": []})
    bad.write("outside-index", INDEX, {"weight_map": index["weight_map"] | {"lm_head.weight": "../x"}})
    bad.write("lfs", "model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 99\n")
    bad.write("large", "model.safetensors", bad.whole)


def lie(bad):
    """Headers that do not belong to the data."""
    norm = bad.header["model.norm.weight"]
    begin, end = norm["data_offsets"]
    bad.write("truncated", "model.safetensors", bad.whole[:-100])
    for name, change in {"beyond": {"data_offsets": [1 << 40, (1 << 40) + end - begin]},
                         "overlap": {"data_offsets": [begin - 64, end - 64] if begin else [begin + 64, end + 64]},
                         "integers": {"dtype": "I64", "shape": [(end - begin) // 8]},
                         "short": {"data_offsets": [begin, end - 32]}}.items():
        bad.write(name, "model.safetensors",
                  bad.changed(lambda header, change=change: header["model.norm.weight"].update(change)))


def main():
    bad = Bad(*map(pathlib.Path, sys.argv[1:]))
    make(bad)
    lie(bad)


main()
