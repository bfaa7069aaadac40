"""Compares arenas with the bound by liveness.

arena_bound.py --examples FOLDER --work FOLDER [--all]

With --all, all products of examples, layouts and replays; without it, every two of them.
"""
import argparse
import itertools
import json
import pathlib
import subprocess

MOST = 1.02
LAYOUTS = {"one rank": [], "microbatches": ["--accumulate=2"], "bf16": ["--precision=bf16"], "DDP": ["--mesh=dp=2"],
           "ZeRO-1": ["--mesh=dp=2", "--zero=1"], "ZeRO-2": ["--mesh=dp=2", "--zero=2"], "ZeRO-3": ["--mesh=dp=2", "--zero=3"],
           "HSDP": ["--mesh=replica=2,shard=2", "--zero=3"]}
REPLAYS = ("none", "attention", "selective", "full")


def graphs(examples, work):
    """The examples' graphs at sizes that plan in no time; that of GPT-2 124M has one of its twelve layers."""
    small = work / "gpt2.json"
    small.write_text(json.dumps(json.loads((examples / "gpt2-124m" / "config.json").read_text()) | {"n_layer": 1}))
    for name, source in {"gpt-text": "--preset=gpt-small", "gpt2-124m": small, "llama-tiny": "--preset=llama-tiny"}.items():
        path = work / f"{name}.mlir"
        subprocess.run(["braid-model", source, "--batch", "8", "--seq", "64", "-o", path], check=True)
        yield name, path
    yield "mlp-by-hand", examples / "mlp-by-hand" / "mlp.mlir"


def ratio(graph, work, *options):
    """The largest of all programs."""
    report = work / "plan.json"
    subprocess.run(["braidc", graph, "--emit=memory", "-o", work / "plan.mlir", f"--report={report}", *options], check=True,
                   stderr=subprocess.DEVNULL)
    programs = json.loads(report.read_text())["programs"].values()
    return max(program["peak_bytes"] / program["lower_bound_bytes"] for program in programs)


def pairs(chosen):
    return {pair for case in chosen for pair in itertools.combinations(enumerate(case), 2)}


def cases(names, everything):
    """Example, layout and replays."""
    products = list(itertools.product(names, LAYOUTS, REPLAYS))
    if everything:
        return products
    chosen = [(names[(row + column) % len(names)], layout, replays)
              for (row, layout), (column, replays) in itertools.product(enumerate(LAYOUTS), enumerate(REPLAYS))]
    assert pairs(chosen) == pairs(products)
    return chosen


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--examples", type=pathlib.Path, required=True)
parser.add_argument("--work", type=pathlib.Path, required=True)
parser.add_argument("--all", action="store_true")
arguments = parser.parse_args()
graph_of = dict(graphs(arguments.examples, arguments.work))
found = {(name, layout, replays): ratio(graph_of[name], arguments.work, f"--recompute={replays}", *LAYOUTS[layout])
         for name, layout, replays in cases(list(graph_of), arguments.all)}
beyond = {case: value for case, value in found.items() if value > MOST}
assert not beyond, beyond
print(f"{len(found)} plans, worst {max(found.values()):.4f}")
