#!/usr/bin/env python3
"""Imports exported programs that were damaged, and looks for crashes.

  mutants.py COUNT FOLDER [--seed N] [--only I] [--without-limit]

Mutant I of a seed is always the same: a program of the tests with one to four changes of its JSON, its table of weights,
its archive or its bytes. attempts.py says what braid-import must do.
"""

import copy
import io
import json
import random
import sys
import warnings
import zipfile
from pathlib import Path

import attempts
import pt2

INPUTS = Path(__file__).parent
TEXTS = ["arithmetic", "choices", "contractions", "creation", "inputs", "known-values", "layers", "losses", "masks",
         "movement", "overwrites", "reductions"]

NUMBERS = [0, 1, -1, 2, 3, 7, 17, 64, 255, 65536, 2**31 - 1, 2**31, -2**31, 2**32, 2**40, 2**48, 2**53, 2**62, 2**63 - 1, -2**63,
           2**63, 2**64, 0.5, -0.0, 1e-320, 1e308, -1e308]
WORDS = ["", ".", "..", "../x", "/", "a" * 5000, "\0", "\ud7ff", "x", "y", "as_int", "as_tensor", "as_none", "Infinity", "-Infinity",
         "NaN", "mean", "tanh", "bk,nk->bn", "a->a", "...", ",->", "ab,bc->ca", "%s", "loc(unknown)", "\n\"", "{}"]


def deep(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


class Mutator:
    def __init__(self, seed, table):
        self.pick = random.Random(seed)
        self.table = table

    def scalar(self):
        choice = self.pick.random()
        if choice < 0.5:
            return self.pick.choice(NUMBERS)
        if choice < 0.8:
            return self.pick.choice(WORDS)
        return self.pick.choice([None, True, False, [], {}, [[]], [{}], {"as_none": True}, {"": 0}])

    def value(self):
        choice = self.pick.random()
        if choice < 0.9:
            return self.scalar()
        if choice < 0.92:
            return deep(self.pick.choice([30, 255, 257, 2000]))
        return [self.scalar() for _ in range(self.pick.choice([1, 2, 17, 1000]))]

    @staticmethod
    def places(root):
        """Returns (container, key) of each value below the root."""
        found, stack = [], [root]
        while stack:
            node = stack.pop()
            keys = range(len(node)) if isinstance(node, list) else list(node)
            for key in keys:
                found.append((node, key))
                if isinstance(node[key], (list, dict)):
                    stack.append(node[key])
        return found

    def of_key(self, places, *keys):
        chosen = [place for place in places if place[1] in keys]
        return self.pick.choice(chosen) if chosen else None

    def change_size(self, root, places):
        place = self.of_key(places, "sizes")
        if not place:
            return
        sizes = place[0][place[1]]
        if not isinstance(sizes, list):
            return
        change = self.pick.random()
        if change < 0.2 and sizes:
            sizes.pop(self.pick.randrange(len(sizes)))
        elif change < 0.4:
            sizes.insert(self.pick.randrange(len(sizes) + 1), {"as_int": self.pick.choice([0, 1, 1, 2, 5, 2**31, 2**48])})
        elif change < 0.45:
            sizes.extend([{"as_int": 1}] * self.pick.choice([8, 16, 1000]))
        elif sizes:
            sizes[self.pick.randrange(len(sizes))] = {self.pick.choice(["as_int"] * 9 + ["as_expr"]): self.pick.choice(NUMBERS)}

    def change_op(self, root, places):
        place = self.of_key(places, "target")
        if place:
            place[0]["target"] = "torch.ops." + self.pick.choice(self.table)

    def change_name(self, root, places):
        place, other = self.of_key(places, "name"), self.of_key(places, "name")
        if place:
            place[0]["name"] = copy.deepcopy(other[0]["name"])

    def change_argument(self, root, places):
        place, other = self.of_key(places, "arg"), self.of_key(places, "arg")
        if place:
            kinds = ["as_int", "as_float", "as_bool", "as_string", "as_ints", "as_floats", "as_tensors", "as_optional_tensors",
                     "as_scalar_type", "as_none", "as_device", "as_sym_int", "as_tensor"]
            new = {self.pick.choice(kinds): self.pick.choice([self.value(), [self.scalar(), self.scalar()]])}
            place[0]["arg"] = self.pick.choice([copy.deepcopy(other[0]["arg"]), new])

    def change_number(self, root, places):
        numbers = [(node, key) for node, key in places if isinstance(node[key], (int, float)) and not isinstance(node[key], bool)]
        if numbers:
            node, key = self.pick.choice(numbers)
            node[key] = self.pick.choice(NUMBERS + [node[key] + 1, node[key] - 1, -node[key], node[key] * 2])

    def change_anything(self, root, places):
        node, key = self.pick.choice(places)
        change = self.pick.random()
        if change < 0.3:
            del node[key]
        elif change < 0.5:
            source, name = self.pick.choice(places)
            try:
                node[key] = copy.deepcopy(source[name])
            except (KeyError, IndexError):
                pass
        elif change < 0.6 and isinstance(node, list):
            node.insert(self.pick.randrange(len(node) + 1), copy.deepcopy(node[key]))
        elif change < 0.7 and isinstance(node, list):
            self.pick.shuffle(node)
        elif change < 0.75 and isinstance(node, dict):
            node[self.pick.choice(WORDS)] = node.pop(key)
        else:
            node[key] = self.value()

    def change_json(self, entries, name):
        root = json.loads(entries[name])
        for _ in range(self.pick.choice([1, 1, 1, 2, 2, 3, 4])):
            places = self.places(root) if isinstance(root, (list, dict)) else []
            if not places:
                break
            self.pick.choice([self.change_size, self.change_op, self.change_op, self.change_name, self.change_argument,
                              self.change_number, self.change_number, self.change_anything])(root, places)
        entries[name] = json.dumps(root).encode("utf-8", "surrogatepass")

    def change_text(self, entries, name):
        data = bytearray(entries[name])
        for _ in range(self.pick.choice([1, 1, 2, 8])):
            at = self.pick.randrange(len(data))
            change = self.pick.random()
            if change < 0.4:
                data[at] = self.pick.choice(b"[]{}\",:0-9eE\\x\0\xff")
            elif change < 0.6:
                del data[at:at + self.pick.choice([1, 2, 50])]
            elif change < 0.7:
                data[at:at] = self.pick.choice([b"[" * 300, b"9" * 5000, b"\\u0000", b"\xff\xfe", b"-", b"1e999"])
            elif change < 0.8:
                del data[at:]
            else:
                data[at] ^= 1 << self.pick.randrange(8)
            if not data:
                break
        entries[name] = bytes(data)

    def archive(self, entries):
        """Returns the bytes of an archive with other names, twins, missing or compressed entries."""
        names = {name: f"model/{name}" for name in entries}
        change, victim = self.pick.randrange(8), self.pick.choice(list(entries))
        extra = []
        if change == 0:
            names[victim] = self.pick.choice(["../" + victim, "/" + victim, "model/../" + victim, "", "model/", victim, "model/" * 300 + victim])
        elif change == 1:
            names = {name: self.pick.choice(["", "a/", "a/b/", "model/"]) + name for name in entries}
        elif change == 2:
            extra = [(names[victim], entries[victim])]
        elif change == 3:
            extra = [("model/models/other.json", entries["models/model.json"])]
        elif change == 4:
            names.pop(victim)
        elif change == 5:
            entries[victim] = b""
        elif change == 6:
            entries[victim] = entries[victim][:len(entries[victim]) // 2]
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, path in names.items():
                info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
                archive.writestr(info, entries[name], zipfile.ZIP_DEFLATED if change == 7 and name == victim else zipfile.ZIP_STORED)
            for path, data in extra:
                archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), data)
        return stream.getvalue()

    def damage(self, data):
        """Damages bytes, most often of the directory at the archive's end."""
        data = bytearray(data)
        directory = max(data.find(b"PK\1\2"), 0)
        for _ in range(self.pick.choice([1, 1, 2, 5])):
            low = min(directory, len(data) - 1) if self.pick.random() < 0.7 else 0
            at = self.pick.randrange(low, len(data))
            change = self.pick.random()
            if change < 0.5:
                data[at] = self.pick.choice([0, 1, 0xff, 0x80, data[at] ^ 1])
            elif change < 0.75:
                data[at:at + 4] = self.pick.choice([b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"\1\0\0\0"])
            elif change < 0.9:
                del data[at:at + self.pick.choice([1, 4, 1000])]
            else:
                data[at:at] = self.pick.choice([b"PK\5\6", b"PK\1\2", b"\0" * 100])
            if not data:
                break
        return bytes(data)

    def mutant(self, bases):
        """Returns the bytes of a file, and options of braid-import."""
        entries = dict(self.pick.choice(bases))
        options = self.pick.choice([[], [], ["--summary"], ["--weights"]])
        kind = self.pick.random()
        if kind < 0.65:
            self.change_json(entries, "models/model.json")
        elif kind < 0.75:
            self.change_json(entries, self.pick.choice([name for name in entries if name.endswith("_config.json")]))
            options = ["--weights"]
        elif kind < 0.82:
            self.change_text(entries, self.pick.choice([name for name in entries if name.endswith(".json")]))
        if kind < 0.82:
            stream = io.BytesIO()
            pt2.write(entries, stream)
            return stream.getvalue(), options
        data = self.archive(entries)
        return (data if kind < 0.9 else self.damage(data)), options


def programs():
    """Returns the entries of each program that is damaged."""
    bases = []
    for name in TEXTS:
        path = INPUTS.parent / f"{name}.test"
        bases.append(pt2.read(path.read_text().splitlines(), path.name))
    for name in ("nanogpt", "llama"):
        with zipfile.ZipFile(INPUTS / f"{name}.pt2") as archive:
            bases.append({entry.partition("/")[2]: archive.read(entry) for entry in archive.namelist()})
    return bases


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "Duplicate name")
    sys.setrecursionlimit(20000)
    attempts.main(__doc__, "pytorch", ".pt2", Mutator, programs)
