#!/usr/bin/env python3
"""Compares --recompute=auto with a search of everything that could be replayed, on random graphs.

exhaustive_replays.py --work FOLDER --graphs N --values N [--seed N] [--budgets N]

A graph is a unit of random ops, and a second one that reads what it makes.  Each set of values of the first unit is
replayed once, by braid_replay_sets, which says the arena and the predicted time of each; views count as what they show.
For budgets from the smallest arena of all sets to the largest, auto must keep the budget, and its step may take at most
1.05 times as long as the fastest that keeps it.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys

ROWS, WIDTH = 256, 64
WIDE = f"tensor<{ROWS}x{WIDTH}xf32>"
WEIGHT = f"tensor<{WIDTH}x{WIDTH}xf32>"
TOLERANCE = 1.05


def random_graph(rng, values):
    """A module, and the names of the values of its first unit that may be replayed."""
    lines, known, weights = [], ["x"], ["a0"]
    def add(op):
        # Digits at the end of a name only make it unique in its graph, so names are letters.
        known.append("v" + chr(ord("a") + len(known) - 1))
        lines.append(f"    %{known[-1]} = {op}")
    add(f'tg.contract "bi,io->bo" %x, %a0 : ({WIDE}, {WEIGHT}) -> {WIDE}')
    while len(known) <= values:
        kind = rng.choice(["unary", "unary", "binary", "binary", "contract", "row"])
        one, other = known[-1], rng.choice(known[1:])
        if kind == "unary":
            add(f"{rng.choice(['math.exp', 'math.tanh', 'math.sin'])} %{one} : {WIDE}")
        elif kind == "binary":
            add(f"{rng.choice(['arith.mulf', 'arith.addf'])} %{one}, %{other} : {WIDE}")
        elif kind == "contract":
            weights.append(f"a{len(weights)}")
            add(f'tg.contract "bi,io->bo" %{one}, %{weights[-1]} : ({WIDE}, {WEIGHT}) -> {WIDE}')
        elif len(known) + 1 <= values:
            add(f"tg.reduce mean %{one} dims [1] : {WIDE} -> tensor<{ROWS}xf32>")
            mean = known[-1]
            lines.append(f"    %{mean}s = tg.broadcast %{mean} dims [0] : tensor<{ROWS}xf32> -> {WIDE}")
            add(f"arith.subf %{one}, %{mean}s : {WIDE}")
            known.remove(mean)
            known.insert(1, f"{mean}s")
    arguments = [f'      %{w}: {WEIGHT} {{tg.param = #tg.param<"{w}", #tg.init<normal, 0.0, 0.1>, unit = "a">}},'
                 for w in weights]
    return "\n".join([
        "module {", "  func.func @model(", *arguments,
        f'      %last: {WEIGHT} {{tg.param = #tg.param<"last", #tg.init<normal, 0.0, 0.1>, unit = "b">}},',
        f'      %x: {WIDE} {{tg.input = "x", tg.role = #tg.role<features>}})',
        "      -> (tensor<f32> {tg.role = #tg.role<loss>}) {", *lines,
        f'    %y = tg.contract "bi,io->bo" %{known[-1]}, %last : ({WIDE}, {WEIGHT}) -> {WIDE}',
        f"    %squares = arith.mulf %y, %y : {WIDE}",
        f"    %loss = tg.reduce mean %squares dims [0, 1] : {WIDE} -> tensor<f32>",
        "    return %loss : tensor<f32>", "  }", "}", ""])


def compiled(graph, report, *options):
    """The plan, or none if it is refused."""
    done = subprocess.run(["braidc", graph, "--emit=memory", "-o", os.devnull, f"--report={report}", *options],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        if "memory limit" in done.stderr:
            return None
        sys.exit(f"braidc failed on {graph}:\n{done.stderr}")
    plan = json.loads(pathlib.Path(report).read_text())
    return plan["arena_bytes"], plan["predicted_step_s"]


def replayable(graph):
    """Returns names of values of the first unit, as braidc prints them, that the second unit does not read."""
    done = subprocess.run(["braidc", graph, "--emit=memory", "-o", os.devnull, "--recompute=full", "-v"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    names = {line.split("replays ")[1].split(",")[0] for line in done.stderr.splitlines() if ": replays a/" in line}
    return sorted(names)


def search(graph, names):
    """Arena and time of every set of replays that is allowed, in two processes or more."""
    sets = [" ".join(name for bit, name in enumerate(names) if number >> bit & 1)
            for number in range(1 << len(names))]
    def plan(lines):
        done = subprocess.run([pathlib.Path(os.environ["BRAID_BUILD"]) / "test/unit/braid_replay_sets", graph],
                              input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE, text=True, check=True)
        return [line.split() for line in done.stdout.splitlines() if line != "-"]
    processes = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        parts = pool.map(plan, [part for first in range(processes) if (part := sets[first::processes])])
        return [(int(arena), float(seconds)) for part in parts for arena, seconds in part]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--graphs", type=int, required=True)
    parser.add_argument("--values", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budgets", type=int, default=5)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    worst, budgets, failures, missed = 1.0, 0, 0, 0
    for number in range(args.seed, args.seed + args.graphs):
        rng = random.Random(number)
        graph = args.work / f"graph{number}.mlir"
        graph.write_text(random_graph(rng, args.values))
        names = replayable(graph)
        points = search(graph, names)
        largest, smallest = max(arena for arena, _ in points), min(arena for arena, _ in points)
        shares = range(args.budgets)
        for budget in sorted({smallest + (largest - smallest) * share // shares[-1] for share in shares}):
            best = min(seconds for arena, seconds in points if arena <= budget)
            found = compiled(graph, args.work / "auto.json", "--recompute=auto", f"--recompute-budget={budget}")
            budgets += 1
            is_kept = found and found[0] <= budget
            missed += not is_kept
            ratio = found[1] / best if is_kept else float("inf")
            worst = max(worst, ratio)
            failures += ratio > TOLERANCE
            print(f"graph {number}: {len(names)} values, {budget} bytes: {ratio:.4f} of the fastest of {len(points)}", flush=True)
    print(f"{budgets} budgets, {failures} beyond {TOLERANCE}, {missed} that a set keeps and auto does not, worst {worst:.4f}")
    sys.exit(1 if failures or not budgets else 0)


if __name__ == "__main__":
    main()
