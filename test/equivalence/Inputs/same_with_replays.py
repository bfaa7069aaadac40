#!/usr/bin/env python3
"""Steps that compute values again are those that keep them, to the bit: strategies x accumulation x precision x policy.

same_with_replays.py GRAPH --work FOLDER [--all]

Each program is lowered to memory form twice, and the interpreter runs all ranks of both. With --all, all products of
strategies, policies, numbers of microbatches and precisions; without it, every two of them.
"""
import argparse
import itertools
import pathlib
import subprocess
import sys

STRATEGIES = {
    "one rank": [],
    "ddp": ["--mesh=dp=2"],
    "zero-1": ["--mesh=dp=2", "--zero=1"],
    "zero-2": ["--mesh=dp=2", "--zero=2"],
    "zero-3": ["--mesh=dp=2", "--zero=3"],
    "hsdp": ["--mesh=replica=2,shard=2", "--zero=3"],
}
POLICIES = ["attention", "selective", "full"]
MICROBATCHES = [1, 2]
PRECISIONS = ["f32", "bf16"]


def cases(everything):
    """Strategy, policy, number of microbatches and precision."""
    products = list(itertools.product(STRATEGIES, POLICIES, MICROBATCHES, PRECISIONS))
    if everything:
        return products
    chosen = []
    for (row, strategy), (column, policy) in itertools.product(enumerate(STRATEGIES), enumerate(POLICIES)):
        setting = (row + column) % 4
        chosen.append((strategy, policy, MICROBATCHES[setting // 2], PRECISIONS[setting % 2]))
    assert pairs(chosen) == pairs(products)
    return chosen


def pairs(chosen):
    return {pair for case in chosen for pair in itertools.combinations(enumerate(case), 2)}


def pipeline(graph, path, options):
    done = subprocess.run(["braidc", graph, "--print-pipeline", *options], capture_output=True, text=True, check=True)
    path.write_text(done.stdout)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    number = 0
    for name, policy, microbatches, precision in cases(args.all):
        options = [*STRATEGIES[name], "--clip=1.0", f"--accumulate={microbatches}", f"--precision={precision}"]
        without = pipeline(args.graph, args.work / "without", options)
        again = pipeline(args.graph, args.work / "again", [*options, f"--recompute={policy}"])
        if again.read_text() == without.read_text():
            sys.exit(f"--recompute={policy} does nothing")
        for function in ["train"] + ["accumulate"] * (microbatches > 1):
            done = subprocess.run(["braid-interp", args.graph, f"--function={function}", "--compare", "--rtol=0", "--atol=0",
                                   f"--pipeline=@{again}", f"--reference-pipeline=@{without}"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit(f"@{function} of {name}, {microbatches} microbatches, {precision}, {policy}:\n{done.stdout}")
            number += 1
    print(f"{number} programs of {len(STRATEGIES)} strategies are the same to the bit")


if __name__ == "__main__":
    main()
