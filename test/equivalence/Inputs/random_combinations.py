#!/usr/bin/env python3
"""random_combinations.py FOLDER Parallelism.md FIRST END

Draws a family, its sizes, axes and options for each seed from FIRST to END - 1, without asking whether they
fit.  braidc plans each with moments of some type, and the step under plain SGD is that of the graph
(same_step.py).  What braidc refuses has to be a message of the table under "What is refused".
"""

import json
import pathlib
import random
import re
import sys

from same_step import Difference, Refusal, run, same_step

AXES = ["dp=2", "dp=3", "tp=2", "cp=2", "pp=2", "ep=2", "tp=1", "cp=1"]
LLAMA = {"hidden_act": "silu"}
FAMILIES = {
    "llama": LLAMA, "qwen2": LLAMA, "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "gemma2": {"head_dim": 8, "sliding_window": 4}, "phi": {}, "gpt2": {}}


def messages(page):
    """Expressions for what may be refused: the first column of the table, in which an ellipsis stands for anything."""
    section = pathlib.Path(page).read_text().split("\n## What is refused\n")[1].split("\n## ")[0]
    texts = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    return [".*".join(map(re.escape, text.split("…"))) for text in texts]


def draw_config(draw, family):
    heads, layers = draw.choice([1, 2, 4]), draw.choice([1, 2, 3])
    width, vocabulary = heads * 8, draw.choice([19, 32, 36])
    if family == "gpt2":
        return {"model_type": family, "n_embd": width, "n_layer": layers, "n_head": heads, "n_positions": 24,
                "vocab_size": vocabulary}
    keys = draw.choice([count for count in (1, 2, 4) if heads % count == 0]) if family != "phi" else heads
    return {"model_type": family, "hidden_size": width, "intermediate_size": draw.choice([12, 20, 64]),
            "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": keys,
            "vocab_size": vocabulary, "max_position_embeddings": 24, **FAMILIES[family]}


def draw_options(draw):
    def maybe(chance, *options):
        return [draw.choice(options)] if draw.random() < chance else []

    axes = list({axis.split("=")[0]: axis for axis in draw.sample(AXES, draw.choice([1, 1, 2, 2, 3]))}.values())
    names = [axis.split("=")[0] for axis in axes]
    options = ["--mesh=" + ",".join(axes)]
    if {"dp", "cp", "ep"} & set(names):
        options += maybe(0.5, "--zero=1", "--zero=2", "--zero=3")
    if "tp" in names:
        options += maybe(0.4, "--sequence-parallel")
    if "cp" in names:
        options += maybe(0.6, "--context=ring", "--context=gather", "--context=ulysses")
    options += maybe(0.4, "--accumulate=2") + maybe(0.3, "--loss-chunk=4")
    options += maybe(0.3, "--recompute=full", "--recompute=selective") + maybe(0.3, "--merge-matmuls=on")
    return options


def trial(folder, seed):
    draw = random.Random(seed)
    family = draw.choice(list(FAMILIES))
    (folder / "config.json").write_text(json.dumps(draw_config(draw, family)))
    shape = [f"--batch={draw.choice([6, 12])}", f"--seq={draw.choice([5, 8, 12])}"]
    shape += ["--pack"] if draw.random() < 0.3 else []
    options, state = draw_options(draw), draw.choice(["f32", "bf16", "int8"])
    graph = folder / "graph.mlir"
    said = f"seed {seed}: {family} {' '.join(shape + options)} --optimizer-state={state}"
    made = run("braid-model", folder / "config.json", *shape, "-o", graph)
    if made.returncode:
        raise Difference(f"{said}: {made.stderr}")
    try:
        plan = run("braidc", graph, *options, f"--optimizer-state={state}", "--emit=memory", "-o", folder / "memory.mlir")
        if plan.returncode:
            raise Refusal(plan.stderr)
        same_step(graph, options, tolerance=1e-4)
    except (Refusal, Difference) as error:
        raise type(error)(f"{said}: {error}") from None


def main():
    folder, page, first, end = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    known, failures, refused = messages(page), 0, 0
    for seed in range(first, end):
        try:
            trial(folder, seed)
        except (Refusal, Difference) as error:
            isKnown = isinstance(error, Refusal) and any(re.search(message, str(error)) for message in known)
            refused += isKnown
            failures += not isKnown
            if not isKnown:
                print(error, flush=True)
    print(f"{failures} of {end - first} combinations fail, {refused} are refused")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
