#!/usr/bin/env python3
"""bf16_stages.py GRAPH.mlir FOLDER TOLERANCE DATA-OPTIONS... [-- COMPILER-OPTIONS...]

Trains a graph in bf16 on one rank, and on two under each stage of ZeRO.  One rank
agrees with the interpreter's log FOLDER/reference.jsonl to the tolerance, two ranks
agree with one, and the stages with each other; says whether they do in every bit.

COMPILED, an environment variable, names the stages that are compiled (default: zero0, zero1, zero2 and zero3).  Of the
others the interpreter does one step in memory form, which is that of one rank to the rounding of bf16."""

import json
import os
import subprocess
import sys

COMPILED = os.environ.get("COMPILED", "zero0,zero1,zero2,zero3").split(",")
ROUNDING = 3e-2
TRAIN = ["--steps", "4", "--lr", "1e-3", "--lr-schedule", "constant", "--warmup", "0", "--seed", "7", "--threads", "1"]


def losses(path):
    with open(path) as file:
        return [line["loss"] for line in map(json.loads, file) if "loss" in line]


def train(graph, folder, name, data, options):
    binary, log = f"{folder}/{name}", f"{folder}/{name}.jsonl"
    subprocess.run(["braidc", graph, "--precision=bf16", "-o", binary, *options], check=True)
    ranks = ["--ranks", "2"] if any(option.startswith("--mesh") for option in options) else []
    subprocess.run([binary, "train", *data, *TRAIN, *ranks, "--log", log, "--force"], check=True, stdout=subprocess.DEVNULL)
    return losses(log)


def interpret(graph, folder, name, options, one):
    """A step with `options` and one with `one`, of all functions of training."""
    pipelines = []
    for number, words in enumerate((options, one)):
        done = subprocess.run(["braidc", graph, "--precision=bf16", "--print-pipeline", *words], check=True, stdout=subprocess.PIPE)
        path = f"{folder}/{name}.pipeline{number}"
        with open(path, "wb") as file:
            file.write(done.stdout)
        pipelines.append(path)
    for function in ["train"] + ["accumulate"] * any(option.startswith("--accumulate") for option in options):
        done = subprocess.run(["braid-interp", graph, "--init", f"--function={function}", "--compare", f"--rtol={ROUNDING}",
                               f"--pipeline=@{pipelines[0]}", f"--reference-pipeline=@{pipelines[1]}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"{name}: @{function}: {done.stdout[-2000:]}")
    print(f"{name}: a step is that of one rank")


def expect_close(name, found, expected, tolerance):
    worst = max(abs(a - b) / abs(b) for a, b in zip(found, expected, strict=True))
    print(f"{name}: largest relative error {worst:.1e}")
    if not worst <= tolerance:
        sys.exit(f"{name}: {found}, expected {expected}")


def main():
    graph, folder, tolerance = sys.argv[1], sys.argv[2], float(sys.argv[3])
    rest = sys.argv[4:]
    split = rest.index("--") if "--" in rest else len(rest)
    data, options = rest[:split], rest[split + 1:]
    reference = losses(f"{folder}/reference.jsonl")
    one = train(graph, folder, "one", data, options)
    expect_close("one rank", one, reference, tolerance)
    stages = []
    for stage in range(4):
        name, words = f"zero{stage}", options + ["--mesh=dp=2", f"--zero={stage}"]
        if name not in COMPILED:
            interpret(graph, folder, name, words, options)
            continue
        found = train(graph, folder, name, data, words)
        stages.append(found)
        expect_close("two ranks", found, one, tolerance)
        expect_close(f"zero {stage}", found, stages[0], tolerance)
    if all(found == stages[0] for found in stages):
        print("stages agree in every bit")


if __name__ == "__main__":
    main()
