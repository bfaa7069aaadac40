#!/usr/bin/env python3
"""check_collective_names.py GRAPH.mlir PLAN.json

Compiles a graph under each strategy and checks that the report names the parameters whose
gradients each collective reduces, and whose values it gathers: every parameter in exactly as
many collectives as the strategy has for it, and nothing but known numbers beside them."""

import collections
import json
import os
import re
import subprocess
import sys

NUMBERS = {"loss", "token count", "grad_norm", "stop"}
DDP, HSDP = ["--mesh=dp=2"], ["--mesh=replica=2,shard=2"]
STRATEGIES = [
    DDP + ["--zero=0"],
    DDP + ["--zero=0", "--bucket-mb=0", "--clip=1"],
    DDP + ["--zero=1"],
    DDP + ["--zero=1", "--overlap=none"],
    DDP + ["--zero=2", "--clip=1"],
    DDP + ["--zero=3"],
    DDP + ["--zero=3", "--reshard-after-forward=false"],
    HSDP + ["--zero=1"],
    HSDP + ["--zero=3", "--clip=1"],
]


def plan_of(graph, options, path):
    subprocess.run(["braidc", graph, "--emit=memory", "-o", os.devnull, "--without=tg-make-decode", f"--report={path}"] + options, check=True)
    with open(path) as file:
        return json.load(file)


def check(parameters, plan, zero, is_hybrid):
    reduced, gathered = collections.Counter(), collections.Counter()
    for collective in plan["collectives"]:
        if collective["program"] not in ("train", "accumulate"):
            continue
        names, is_reduction = collective["tensors"], "reduction" in collective
        strange = set(names) - NUMBERS - parameters.keys()
        if strange:
            sys.exit(f"{collective['op']} of {sorted(strange)}")
        if "unit" in collective and any(parameters[name] != collective["unit"] for name in names):
            sys.exit(f"unit {collective['unit']}: {names}")
        if collective["program"] == "train":
            (reduced if is_reduction else gathered).update(name for name in names if name not in NUMBERS)
    times = {1, 2} if is_hybrid and zero else {1}
    for name in parameters:
        if reduced[name] not in times:
            sys.exit(f"{name} is reduced {reduced[name]} times")
        if gathered[name] not in ({0} if zero == 0 else {1, 2} if zero == 3 else {1}):
            sys.exit(f"{name} is gathered {gathered[name]} times")


def main():
    graph, path = sys.argv[1:]
    with open(graph) as file:
        parameters = dict(re.findall(r'tg\.param = #tg\.param<"([^"]+)"[^>]*>[^>]*?unit = "([^"]*)"', file.read()))
    for strategy in STRATEGIES:
        for accumulate in ([], ["--accumulate=2"], ["--accumulate=2", "--unreduced-accumulators"]):
            zero = int(strategy[1][-1])
            if len(accumulate) == 2 and zero != 2:
                continue
            options = strategy + accumulate
            print(" ".join(options), flush=True)
            check(parameters, plan_of(graph, options, path), zero, strategy[0] == HSDP[0])
    print(f"{len(parameters)} parameters are named")


if __name__ == "__main__":
    main()
