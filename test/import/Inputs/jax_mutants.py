#!/usr/bin/env python3
"""Imports texts of JAX functions that were damaged, and looks for crashes.

  jax_mutants.py COUNT FOLDER [--seed N] [--only I] [--without-limit]

Mutant I of a seed is always the same: a program of the tests with one to four changes of its numbers, types, names, ops,
lines or bytes. attempts.py says what braid-import must do.
"""

import random
import re
from pathlib import Path

import attempts
import jax_case

INPUTS = Path(__file__).parent
NUMBERS = ["0", "1", "-1", "2", "3", "7", "64", "65536", "2147483647", "2147483648", "-2147483648", "4294967296",
           "281474976710656", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "9" * 5000]
TYPES = ["tensor<f32>", "tensor<4xf32>", "tensor<4x8xi32>", "tensor<4x8xi1>", "tensor<0xf32>", "tensor<4x0x8xf32>",
         "tensor<2147483648x2147483648xf32>", "tensor<1000000x1000000xf32>", "tensor<1000000x1000000xi32>", "tensor<?xf32>",
         "tensor<*xf32>", "tensor<2xui32>", "tensor<4xcomplex<f32>>", "tensor<4xf16>", "tensor<4xbf16>", "tensor<4xi64>",
         "tensor<4xindex>", "vector<4xf32>", "f32", "!stablehlo.token", "tuple<f32>", "tensor<" + "1x" * 40 + "f32>",
         "tensor<4xf32, 1>"]
PIECES = ["", "(" * 300, "{" * 300, "\"", "\\", "\0", "\xff", "<", ">", "[]", "#stablehlo<>", "loc(unknown)", "@main",
          "array<i64>", "dense<0> : tensor<i32>", "dense<\"0x00\"> : tensor<1000000xi8>", "dense<> : tensor<0xf32>",
          "dense_resource<x> : tensor<4xf32>", "sparse<0, 1> : tensor<4xf32>", "unit", "1.0e999", "0x7FC00000", "%arg0", "%0#1"]


class Mutator:
    def __init__(self, seed, ops):
        self.pick = random.Random(seed)
        self.ops = ops

    def replace(self, text, pattern, choices):
        found = list(re.finditer(pattern, text))
        if not found:
            return text
        place = self.pick.choice(found)
        return text[:place.start()] + self.pick.choice(choices(found)) + text[place.end():]

    def number(self, text):
        return self.replace(text, r"(?<![\w%#.])-?\d+(?![\w.])", lambda found: NUMBERS + [self.pick.choice(found)[0]])

    def dimension(self, text):
        return self.replace(text, r"(?<=[<x])\d+(?=x)", lambda found: ["0", "1", "3", "65536", "2147483647", "?"])

    def type(self, text):
        return self.replace(text, r"tensor<[^>]*>", lambda found: TYPES + [self.pick.choice(found)[0]])

    def everywhere(self, text):
        """Replaces a type, or a list of numbers, at each of its places, so that the text still parses."""
        found = list(re.finditer(self.pick.choice([r"tensor<[^>]*>", r"array<i64: [^>]*>", r"dense<[^>]*>"]), text))
        if not found:
            return text
        old, other = self.pick.choice(found)[0], self.pick.choice(found)[0]
        sizes = re.sub(r"\d+(?=[x,>]|$)", lambda size: self.pick.choice([size[0]] * 3 + ["0", "1", "2", "3", "1000000"]), old)
        return text.replace(old, self.pick.choice([other, sizes, sizes]))

    def field(self, text):
        return self.replace(text, r"(?<=[\[ ])\d+(?=[\],])", lambda found: ["0", "1", "2", "3", "7", "-1"])

    def name(self, text):
        return self.replace(text, r"%\w+(#\d+)?", lambda found: [self.pick.choice(found)[0], "%missing"])

    def op(self, text):
        return self.replace(text, r'"(stablehlo|chlo|func)\.\w+"', lambda found: [f'"{self.pick.choice(self.ops)}"'])

    def word(self, text):
        return self.replace(text, r"[A-Za-z_]{2,}", lambda found: [self.pick.choice(found)[0], "LT", "FLOAT", "x"])

    def line(self, text):
        lines = text.split("\n")
        at, other = self.pick.randrange(len(lines)), self.pick.randrange(len(lines))
        change = self.pick.randrange(4)
        if change == 0:
            del lines[at]
        elif change == 1:
            lines.insert(other, lines[at])
        elif change == 2:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines = lines[:at]
        return "\n".join(lines)

    def piece(self, text):
        at = self.pick.randrange(len(text))
        return text[:at] + self.pick.choice(PIECES) + text[at + self.pick.choice([0, 0, 1, 20]):]

    def mutant(self, bases):
        """Returns the bytes of a file, and options of braid-import."""
        text = self.pick.choice(bases)
        for _ in range(self.pick.choice([1, 1, 1, 2, 2, 3, 4])):
            change = self.pick.choice([self.number, self.number, self.dimension, self.type, self.everywhere, self.everywhere,
                                       self.everywhere, self.field, self.field, self.name, self.name, self.op,
                                       self.op, self.word, self.line, self.line, self.piece])
            text = change(text) or " "
        return text.encode("utf-8", "surrogatepass"), self.pick.choice([[], [], ["--summary"]])


def programs():
    """Returns the text of each program that is damaged: of the models once, of the tests of ops twice."""
    tests = sorted(path for path in (INPUTS.parent / "stablehlo").glob("*.test") if "jax_case.py %s " in path.read_text())
    cases = [jax_case.module(jax_case.statements(enumerate(path.read_text().splitlines(), 1)), path.name) for path in tests]
    return [path.read_text() for path in sorted(INPUTS.glob("jax_*.mlir"))] + 2 * cases


if __name__ == "__main__":
    attempts.main(__doc__, "stablehlo", ".mlir", Mutator, programs)
