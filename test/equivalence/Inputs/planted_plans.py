#!/usr/bin/env python3
"""Wrong plans are refused: exec-verify-plan accepts the plan of each random graph and, once one thing in it is
changed, refuses it or it computes the same.

    planted_plans.py FIRST END     seeds FIRST to END - 1; prints what was not found

What is changed: a tensor lies where another does (place), two buffers are one (merge), a reference begins elsewhere in
its buffer (offset), an action comes before or behind its neighbour (order) or reads another tensor of its type
(operand).
"""

import collections
import random
import re
import subprocess
import sys

from random_graphs import Graph, MEMORY

PLAN = MEMORY.replace(",exec-verify-plan,exec-verify-memory", "")
REF = re.compile(r"( +%\w+ = exec\.ref )(@\w+) \+ (\d+) : (<.*>)")
BUFFER = re.compile(r" +exec\.buffer (@\w+) at (\d+) bytes (\d+) live (-?\d+) to (-?\d+)(.*)")


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def refs(lines):
    return [(number, match) for number, match in enumerate(map(REF.fullmatch, lines)) if match]


def actions(lines):
    return [number for number, line in enumerate(lines)
            if re.match(r"    exec\.(launch|matmul|gather|scatter_add|random_uniform)", line)]


def longest_lives(lines):
    """Buffers live all the time, each at a place of its own, so that only what lies in them can be wrong."""
    end, count = 0, len(actions(lines))
    for number, line in enumerate(lines):
        match = BUFFER.match(line)
        if match:
            name, _, size, first, last, rest = match.groups()
            first, last = ("-1" if '"input"' in rest else "0"), (str(count) if '"result"' in rest else str(count - 1))
            lines[number] = f"    exec.buffer {name} at {end} bytes {size} live {first} to {last}{rest}"
            end += -(-int(size) // 64) * 64
    text = "\n".join(lines)
    return re.sub(r"(exec\.program @f arena )\d+", rf"\g<1>{end}", text).split("\n")


def place(lines, draw):
    number, match = draw.choice(refs(lines))
    others = [other for _, other in refs(lines) if other[4] == match[4] and other[2] != match[2]]
    if others:
        other = draw.choice(others)
        lines[number] = f"{match[1]}{other[2]} + {other[3]} : {match[4]}"
    return bool(others)


def merge(lines, draw):
    buffers = [match for match in map(BUFFER.match, lines) if match and "scratch" not in match[6]]
    transient = [match for match in buffers if '"input"' not in match[6] and '"result"' not in match[6]]
    into = [match for match in transient if any(other[3] == match[3] and other[1] != match[1] for other in buffers)]
    if not into:
        return False
    gone = draw.choice(into)
    kept = draw.choice([other for other in buffers if other[3] == gone[3] and other[1] != gone[1]])
    for number, match in refs(lines):
        if match[2] == gone[1]:
            lines[number] = f"{match[1]}{kept[1]} + {match[3]} : {match[4]}"
    return True


def offset(lines, draw):
    number, match = draw.choice(refs(lines))
    begins = {int(other[3]) for _, other in refs(lines) if other[2] == match[2]} | {int(match[3]) + 4, int(match[3]) + 16}
    begin = draw.choice(sorted(begins - {int(match[3])}))
    lines[number] = f"{match[1]}{match[2]} + {begin} : {match[4]}"
    return True


def renumbered(numbers, number):
    """Reads of exec.reads (dialects/Exec/ValueReads.cpp), where actions have other numbers."""
    numbers, result = list(map(int, numbers)), []

    def take(count):
        result.extend(numbers[:count])
        del numbers[:count]
        return result[-1] if count else 0

    def source():
        result.append(number.get(numbers[0], numbers[0]))
        del numbers[0]
        take(1)

    while numbers:
        rank = take(1)
        take(rank)
        for _ in range(take(1)):
            source()
        for _ in range(take(1)):
            take(rank)
            source()
            take(take(1))
    return result


def exchange_reads(lines, first):
    """What action `first` and the next one must see moves with them."""
    number, header = next((n, line) for n, line in enumerate(lines) if "exec.reads" in line)
    arrays = [renumbered(re.findall(r"-?\d+", body), {first: first + 1, first + 1: first})
              for body in re.findall(r"array<i64(?:: ([^>]*))?>", header)]
    arrays[first], arrays[first + 1] = arrays[first + 1], arrays[first]
    texts = iter("array<i64" + (": " if array else "") + ", ".join(map(str, array)) + ">" for array in arrays)
    lines[number] = re.sub(r"array<i64(?:: [^>]*)?>", lambda _: next(texts), header)


def order(lines, draw):
    pairs = [(a, b) for a, b in zip(actions(lines), actions(lines)[1:]) if b == a + 1]
    if pairs:
        a, b = draw.choice(pairs)
        lines[a], lines[b] = lines[b], lines[a]
        exchange_reads(lines, actions(lines).index(a))
    return bool(pairs)


def operand(lines, draw):
    types = {match[1].split()[0]: match[4] for _, match in refs(lines)}
    number = draw.choice(actions(lines))
    names = [name for name in re.findall(r"%\w+", lines[number])
             if any(types[other] == types[name] and other != name for other in types)]
    if names:
        name = draw.choice(names)
        other = draw.choice([other for other in types if types[other] == types[name] and other != name])
        lines[number] = re.sub(rf"{name}\b", other, lines[number], count=1)
    return bool(names)


KINDS = [place, merge, offset, order, operand]


def main():
    found, missed = collections.Counter(), 0
    for seed in range(int(sys.argv[1]), int(sys.argv[2])):
        draw = random.Random(seed)
        code, plan, error = run(["braid-opt", "-", f"--pass-pipeline=builtin.module({PLAN})"], Graph(seed).text())
        assert code == 0, error
        lines = longest_lives(plan.split("\n"))
        verify = ["braid-opt", "-", "--exec-verify-plan"]
        code, right, error = run(verify, "\n".join(lines))
        assert code == 0, f"seed {seed}: {error}"
        outputs = None
        for kind in KINDS:
            changed = list(lines)
            if not kind(changed, draw):
                continue
            code, text, error = run(verify, "\n".join(changed))
            found[kind.__name__, "refused" if code else "accepted"] += 1
            if code:
                continue
            if outputs is None:
                outputs = run(["braid-interp", "-"], right)
                assert outputs[0] == 0, f"seed {seed}: {outputs[2]}"
            if run(["braid-interp", "-"], text) != outputs:
                missed += 1
                print(f"seed {seed}, {kind.__name__}: a wrong plan is accepted:\n" + "\n".join(changed))
    print(", ".join(f"{kind} {what}: {count}" for (kind, what), count in sorted(found.items())))
    print(f"{missed} wrong plans are accepted")
    return missed > 0 or not all(found[kind.__name__, "refused"] for kind in KINDS)


if __name__ == "__main__":
    sys.exit(main())
