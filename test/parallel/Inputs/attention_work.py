"""Says how many pairs of a query and a key each rank counts in the attention of a program with known starts.

    attention_work.py RANKS FUNCTION < PROGRAM.mlir

Starts are numbers that follow from a rank's index along the only axis of the mesh.
"""

import re
import sys

OPERATION = re.compile(r"(%\w+)(?:, %\w+)* = ([\w.]+) ([^{:]*)(.*)")
CAUSAL = re.compile(r".* at (%\w+), (%\w+) scale \S+ causal( window (\d+))?")
SHAPES = re.compile(r"\(tensor<\d+x(\d+)x[^>]*>, tensor<\d+x(\d+)x")


def number(op, words, values, rank):
    """The value of an op on scalars, or none."""
    operands = [values.get(word) for word in re.findall(r"%\w+", words)]
    if op == "comm.axis_index":
        return rank
    if op == "arith.constant":
        found = re.match(r"dense<(-?\d+)>", words)
        return int(found[1]) if found else None
    if None in operands:
        return None
    return {"arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b, "arith.muli": lambda a, b: a * b,
            "arith.cmpi": lambda a, b: a >= b if words.startswith("sge") else a < b,
            "arith.select": lambda a, b, c: b if a else c}.get(op, lambda *_: None)(*operands)


def work(lines, rank):
    values, pairs = {}, {"tg.attention": 0, "tg.attention_grad": 0}
    for line in lines:
        found = OPERATION.search(line)
        if not found:
            continue
        name, op, words, rest = found.groups()
        if op in pairs:
            queries, keys = map(int, SHAPES.search(rest).groups())
            if "causal" not in words:
                pairs[op] += queries * keys
                continue
            query, key, _, window = CAUSAL.match(words).groups()
            first, start = values[query], values[key]
            for s in range(first, first + queries):
                last, least = min(s, start + keys - 1), max(start, s - int(window) + 1 if window else 0)
                pairs[op] += max(0, last - least + 1)
        elif rest.endswith("tensor<i32>") or op == "arith.cmpi":
            values[name] = number(op, words, values, rank)
    return pairs


ranks, function = int(sys.argv[1]), sys.argv[2]
text = sys.stdin.read()
body = text[text.index(f"@{function}("):]
lines = body[:body.index("return")].splitlines()
for op in ("tg.attention", "tg.attention_grad"):
    of_ranks = [work(lines, rank)[op] for rank in range(ranks)]
    print(f"@{function} {op}: {of_ranks}, together {sum(of_ranks)}")
