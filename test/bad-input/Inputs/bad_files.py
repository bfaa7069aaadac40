#!/usr/bin/env python3
"""bad_files.py CHECKPOINT FOLDER

Writes token files and damaged copies of a checkpoint into the folder."""

import json
import os
import struct
import sys


def tokens(path, ids, vocabulary, width=2, version=1, magic=b"BRAIDTOK", count=None):
    with open(path, "wb") as file:
        file.write(magic + struct.pack("<IIQQ", version, width, len(ids) if count is None else count, vocabulary) + bytes(32))
        file.write(b"".join(struct.pack("<H" if width == 2 else "<I", token) for token in ids))


def main():
    source, folder = sys.argv[1:]
    at = lambda name: os.path.join(folder, name)
    ids = [i % 200 for i in range(4000)]
    tokens(at("good.tokens"), ids, 256)
    tokens(at("wide.tokens"), ids, 50257)
    tokens(at("lying.tokens"), ids, 100)
    tokens(at("outside.tokens"), ids[:3000] + [300] * 1000, 256)
    tokens(at("version.tokens"), ids, 256, version=9)
    tokens(at("width.tokens"), ids, 256, width=3)
    tokens(at("count.tokens"), ids, 256, count=1 << 60)
    with open(at("nanogpt.bin"), "wb") as file:
        file.write(b"".join(struct.pack("<H", token) for token in ids))
    with open(at("llmc.bin"), "wb") as file:
        file.write(struct.pack("<256i", 20240520, 1, len(ids) + 1, *[0] * 253) + bytes(2 * len(ids)))
    with open(at("table.tok"), "wb") as file:  # its table has places that fall
        file.write(b"BRAIDTOK" + struct.pack("<IIQQQQIIQ", 2, 2, 4, 2, 0, 3, 0, 0xffffffff, 0) + bytes(8))
        file.write(struct.pack("<III4x3s", 0, 9, 3, b"abc"))

    with open(source, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8:8 + length]), data[8 + length:]
    # Like a file of versions without checksums, so that other checks find the damage.
    for key in ("header_xxh3", "block_bytes", "block_xxh3"):
        del header["__metadata__"][key]
    names = sorted(name for name in header if name != "__metadata__")

    def write(name, change=lambda header: None, size=None, content=body):
        changed = json.loads(json.dumps(header))
        change(changed)
        text = json.dumps(changed).encode()
        with open(at(name), "wb") as file:
            file.write(struct.pack("<Q", len(text) if size is None else size) + text + content)

    def overlap(header):
        header[names[1]]["data_offsets"] = header[names[0]]["data_offsets"][:1] + [header[names[0]]["data_offsets"][0] + header[names[1]]["data_offsets"][1] - header[names[1]]["data_offsets"][0]]

    def assign(name, key, value):
        return lambda header: header[name].update({key: value})

    write("copy.safetensors")
    write("huge.safetensors", size=1 << 62)
    write("negative.safetensors", size=(1 << 64) - 1)
    write("overlap.safetensors", overlap)
    write("dtype.safetensors", assign(names[0], "dtype", "I64"))
    write("unknown.safetensors", assign(names[0], "dtype", "Q9"))
    write("shape.safetensors", assign(names[0], "shape", [1 << 40, 1 << 40]))
    write("below.safetensors", assign(names[0], "data_offsets", [-8, 8]))
    write("beyond.safetensors", assign(names[0], "data_offsets", [0, 1 << 50]))
    write("missing.safetensors", lambda header: header.pop(names[0]))
    write("list.safetensors", lambda header: header.update({names[0]: [1, 2, 3]}))
    write("half.safetensors", content=body[:len(body) // 2])
    with open(at("tiny.safetensors"), "wb") as file:
        file.write(data[:5])
    with open(at("deep.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", 200000) + b"[" * 200000)
    with open(at("bytes.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", 64) + bytes(range(128, 192)) + body)


if __name__ == "__main__":
    main()
