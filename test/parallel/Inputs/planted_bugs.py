#!/usr/bin/env python3
"""Plants bugs in the program of a rank, one at a time, and expects each to be found.

planted_bugs.py LOCAL EXPECTED [LIMIT]: LOCAL is a program that computes the tensors in
EXPECTED. A mutant leaves out an all_reduce, lets a collective run over the other axis or
combine otherwise, shifts a slice or swaps two blocks. The verifiers or the interpreter
must refuse every one. Of more than LIMIT mutants, every so-manieth is tried.
"""

import re
import subprocess
import sys


def mutants(lines):
    """(what was done, the program) of every bug."""
    for number, line in enumerate(lines):
        found = re.match(r"\s*(%\S+) = comm\.(\w+)(?: (?:sum|mean|max|min))? (%[^ ,]+)", line)
        if not found:
            continue

        def replaced(new):
            return "\n".join(lines[:number] + [new] + lines[number + 1:])

        if found[2] == "all_reduce":
            rest = re.sub(re.escape(found[1]) + r"(?![\w#])", found[3], "\n".join(lines[number + 1:]))
            yield f"left out: {line}", "\n".join(lines[:number]) + "\n" + rest
        for what, pattern, new in [
                ("axis", r"@mesh \{(dp|tp)\}", lambda m: "@mesh {" + ("tp" if m[1] == "dp" else "dp") + "}"),
                ("kind", r"comm\.(\w+) (sum|mean) ", lambda m: f"comm.{m[1]} max "),
                ("shift", r" shift (\d+)", lambda m: f" shift {1 - int(m[1])}"),
                ("blocks", r"comm\.assemble (%\S+), (%\S+) ", lambda m: f"comm.assemble {m[2]}, {m[1]} ")]:
            mutated = re.sub(pattern, new, line)
            if mutated != line:
                yield f"{what}: {line}", replaced(mutated)


def run(program, expected):
    with open(sys.argv[1] + ".mutant.mlir", "w") as file:
        file.write(program)
    return subprocess.run(["braid-interp", file.name, f"--expect={expected}"], capture_output=True, text=True)


def main():
    lines = open(sys.argv[1]).read().splitlines()
    clean = run("\n".join(lines), sys.argv[2])
    if clean.returncode:
        sys.exit("the program without a bug is refused:\n" + clean.stderr + clean.stdout)
    every = list(mutants(lines))
    limit = int(sys.argv[3]) if len(sys.argv) > 3 else len(every)
    chosen = every[::-(-len(every) // limit)]
    missed, ran = [], 0
    for what, program in chosen:
        result = run(program, sys.argv[2])
        if result.returncode < 0 or result.returncode > 1:
            sys.exit(f"crash on {what}\n{result.stderr}")
        if result.returncode == 0:
            missed.append(what)
        ran += "differs" in result.stderr
    for what in missed:
        print("not found:", what)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} planted bugs found, {ran} by running")
    sys.exit(bool(missed))


main()
