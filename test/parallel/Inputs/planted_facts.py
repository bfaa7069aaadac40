#!/usr/bin/env python3
"""Facts that are wrong are found: of training steps of random graphs, on the ranks of random
strategies, tg-verify-facts accepts each as it is and refuses it with one op's facts changed.

    planted_facts.py FIRST END     seeds FIRST to END - 1; prints what was not found
"""

import random
import re
import subprocess
import sys

from random_facts import Graph
from random_graphs import VALUES
from random_steps import is_refused

FACTS = re.compile(r'#tg\.facts<(forward|backward|update)(?:, unit = "\w+")?(?:, of = (?:"\w+"|\[[^\]]*\]), as = \w+)?>')


class Planted(Graph):
    """In tg ops, or in actions on values."""

    def __init__(self, seed):
        super().__init__(seed)
        self.stage = "values"
        self.actions = f",{VALUES}" if seed % 2 else ""

    def pipeline(self):
        return super().pipeline() + self.actions


class Op:
    """An op of the program's block: its operands, and the line that its location ends."""

    def __init__(self, line, number):
        self.names = re.findall(r"%\w+", line.split(" = ")[0])
        self.reads = set(re.findall(r"%\w+", line.split(" = ", 1)[1].split(" loc(")[0]))
        self.isView = " = exec.view" in line
        self.number = number
        self.facts = ""


def ops_of(lines):
    """The ops that depend on an argument and say what they are; views are no work of a phase."""
    ops, dependent, last = [], set(), None
    for number, line in enumerate(lines):
        if re.match(r"    %\w", line):
            last = Op(line, number)
            if any(read.startswith("%arg") or read in dependent for read in last.reads):
                dependent.update(last.names)
                ops.append(last)
        if last and re.match(r"    [%}]", line) and " loc(" in line:
            last.number, last.facts = number, line.rsplit(" loc(fused<", 1)[-1] if " loc(fused<" in line else ""
    return [op for op in ops if not op.isView and FACTS.search(op.facts)]


def lost(facts):
    return "unit"


def unknown_parameter(facts):
    return f'#tg.facts<{facts[1]}, of = "nobody", as = gradient>'


def unknown_unit(facts):
    return f'#tg.facts<{facts[1]}, unit = "nowhere">'


def too_late(facts):
    return "#tg.facts<update>"


def is_needed_early(op, ops):
    """Whether forward or backward reads what an op of theirs makes: then it cannot be an update."""
    isEarly = lambda op: re.search("facts<(?:for|back)ward", op.facts) and "facts<update" not in op.facts
    return isEarly(op) and any(isEarly(reader) and set(op.names) & reader.reads for reader in ops)


def run(passes, text):
    return subprocess.run(["braid-opt", "-", f"--pass-pipeline=builtin.module({passes})", "--mlir-print-debuginfo",
                           "--mlir-print-local-scope"], input=text, capture_output=True, text=True)


def plants(text, draw):
    """Texts with one op's facts changed, and what was done."""
    lines = text.splitlines()
    ops = ops_of(lines)
    for plant in (lost, unknown_parameter, unknown_unit, too_late):
        known = [op for op in ops if plant is not too_late or is_needed_early(op, ops)]
        if known:
            op = draw.choice(known)
            before, facts = lines[op.number].rsplit(" loc(fused<", 1)
            changed = f"{before} loc(fused<{FACTS.sub(plant, facts)}"
            yield plant.__name__, "\n".join(lines[:op.number] + [changed] + lines[op.number + 1:]), changed


def main():
    first, end = int(sys.argv[1]), int(sys.argv[2])
    planted = missed = 0
    for seed in range(first, end):
        graph = Planted(seed)
        right = run(graph.pipeline(), graph.text())
        if is_refused(right):
            continue
        again = run("tg-verify-facts", right.stdout)
        if right.returncode or again.returncode:
            print(f"seed {seed}: {right.stderr}{again.stderr}")
            missed += 1
            continue
        for name, text, changed in plants(right.stdout, random.Random(seed)):
            planted += 1
            found = run("tg-verify-facts", text)
            if found.returncode == 0 or not re.search("by its facts|has no facts", found.stderr):
                missed += 1
                print(f"seed {seed}, {name}: {changed.strip()}\n{found.stderr}")
    print(f"{missed} of {planted} wrong facts not found")
    return missed > 0 or planted < 2 * (end - first)


if __name__ == "__main__":
    sys.exit(main())
