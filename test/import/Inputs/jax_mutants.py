#!/usr/bin/env python3
"""Imports texts of JAX functions that were damaged, and looks for crashes.

  jax_mutants.py COUNT FOLDER [--seed N] [--only I] [--without-limit]

Mutant I of a seed is always the same: a program of the tests with one to four changes of its numbers, types, names, ops,
lines or bytes. braid-import must end with status 0, 1 or 2 within 20 seconds and 2 GiB of address space, and with a
message unless it succeeds. A mutant that fails is kept in FOLDER; --only repeats it.
"""

import argparse
import random
import re
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jax_case

INPUTS = Path(__file__).parent
SECONDS, MEMORY = 20, 2 << 30
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
            change = self.pick.choice([self.number, self.number, self.dimension, self.type, self.type, self.name, self.op,
                                       self.op, self.word, self.line, self.line, self.piece])
            text = change(text) or " "
        return text.encode("utf-8", "surrogatepass"), self.pick.choice([[], [], ["--summary"]])


def programs():
    """Returns the text of each program that is damaged: of the models once, of the tests of ops twice."""
    tests = sorted(path for path in (INPUTS.parent / "stablehlo").glob("*.test") if "jax_case.py %s " in path.read_text())
    cases = [jax_case.module(jax_case.statements(enumerate(path.read_text().splitlines(), 1)), path.name) for path in tests]
    return [path.read_text() for path in sorted(INPUTS.glob("jax_*.mlir"))] + 2 * cases


def attempt(number, seed, ops, bases, folder):
    """Returns the status of a mutant, and what is wrong with it, if anything."""
    data, options = Mutator(f"{seed}/{number}", ops).mutant(bases)
    path = folder / f"mutant-{seed}-{number}.mlir"
    path.write_bytes(data)
    output = [] if "--summary" in options else ["-o", "/dev/null"]
    try:
        done = subprocess.run(["braid-import", path, *options, *output], capture_output=True, timeout=SECONDS, check=False)
        status, errors = done.returncode, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        status, errors = -1, "no end after 20 seconds"
    if status not in (0, 1, 2) or (status and not errors.strip()) or "Stack dump" in errors or "runtime error" in errors:
        return status, f"mutant {number} of seed {seed} ({path}), options {options}: status {status}\n{errors[-1500:]}"
    path.unlink()
    return status, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--without-limit", action="store_true", help="of memory, for sanitizers")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    table = subprocess.run(["braid-import", "--ops", "--from=stablehlo"], check=True, capture_output=True, text=True).stdout
    ops, bases = re.findall(r"^\| `(\S+)` \|", table, re.M), programs()
    if not arguments.without_limit:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    numbers = range(arguments.count) if arguments.only is None else [arguments.only]
    statuses, problems = {}, []
    with ThreadPoolExecutor(2) as pool:
        for status, problem in pool.map(lambda each: attempt(each, arguments.seed, ops, bases, arguments.folder), numbers):
            statuses[status] = statuses.get(status, 0) + 1
            problems += [problem] if problem else []
    print("\n".join(problems[:20]))
    print(f"{len(numbers)} mutants, {statuses.get(0, 0)} imported, {len(problems)} failures")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
