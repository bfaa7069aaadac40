#!/usr/bin/env python3
"""Trains tiny models with their ranks in every arrangement of axes, as threads of one process.

    axes.py FOLDER [covering|all] [WORD...]    arrangements whose text has all the words

Ten steps give the losses and gradient norms of one rank to 1e-5, and the same bits when they are
run again.  A checkpoint of five steps goes on on one rank with the losses of one rank, and one of
one rank goes on on these.  `covering` has every two of axes, options, models, stages of ZeRO and
numbers of microbatches that occur together in `all`.
"""

import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "equivalence" / "Inputs"))
from random_models import write_tokens

TOLERANCE, STEPS, SAVED = 1e-5, 10, 5
BATCH, SEQUENCE = 8, 16
MODELS = {
    "gpt2": {"model_type": "gpt2", "n_embd": 32, "n_head": 4, "n_positions": 16, "vocab_size": 64,
             "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.0, "tie_word_embeddings": True},
    "llama": {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 8,
              "num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": 16, "vocab_size": 64,
              "tie_word_embeddings": False},
    "moe": {"model_type": "mixtral", "hidden_size": 32, "num_attention_heads": 4,
            "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 16, "vocab_size": 64,
            "num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False},
}
# What is said to braidc; ZeRO needs dp, cp or ep, and ep experts.
ARRANGEMENTS = [
    "tp=2", "tp=4", "tp=2 sequence-parallel", "tp=4 sequence-parallel",
    "cp=2", "cp=2 context=gather", "cp=4 context=gather", "cp=2 context=ring", "cp=4 context=ring", "cp=2 context=ulysses",
    "cp=2 context=ring context-order=straight", "cp=4 context=ring context-order=straight",
    "dp=2,tp=2", "dp=2,tp=2 sequence-parallel", "dp=2,cp=2", "dp=2,cp=2 context=ring", "cp=2,tp=2",
    "cp=2,tp=2 sequence-parallel", "cp=2,tp=2 sequence-parallel context=ring", "dp=2,cp=2,tp=2", "dp=2,cp=2,tp=2 context=ring", "dp=2,cp=2,tp=2 sequence-parallel",
    "replica=2,shard=2,tp=2",
    "pp=2", "pp=2 schedule=interleaved chunks=2", "pp=2 schedule=zb-v", "pp=4 schedule=gpipe", "pp=4 schedule=1f1b",
    "pp=4 schedule=interleaved chunks=2", "pp=4 schedule=zb-h1", "pp=4 schedule=zb-v",
    "dp=2,pp=2", "pp=2,tp=2 schedule=zb-h1", "pp=2,cp=2", "pp=2,cp=2 context=ring", "pp=2,dp=2,tp=2", "pp=2,cp=2,tp=2",
    "ep=2", "ep=4", "dp=2,ep=2", "ep=2,tp=2", "ep=2,cp=2", "pp=2,ep=2", "pp=2,ep=2 schedule=zb-v",
    "dp=4 fold=ep:dp", "dp=2,cp=2 fold=ep:dp,cp", "dp=2,cp=2 fold=ep:dp,cp context=ring", "pp=2,dp=2,cp=2 fold=ep:cp",
]
# Those in which experts differ from other weights without ranks of their own.
WITH_EXPERTS = ["tp=4", "tp=2 sequence-parallel", "dp=2,cp=2,tp=2", "pp=2,dp=2,tp=2"]

Case = collections.namedtuple("Case", "model layers arrangement zero microbatches")


def hasExperts(arrangement):
    return "ep=" in arrangement or "fold=" in arrangement


def all_cases():
    for arrangement in ARRANGEMENTS:
        shards = any(axis in arrangement for axis in ("dp=", "cp=", "shard=", "ep="))
        # Pipelines take as many microbatches as ranks, and interleaved ones a multiple of them.
        counts = ((4,) if "chunks" in arrangement and "pp=4" in arrangement else (2, 4)) if "pp=" in arrangement else (1, 2)
        layers = 8 if "pp=4" in arrangement and ("chunks" in arrangement or "zb-v" in arrangement) else 4
        models = ["moe"] if hasExperts(arrangement) else MODELS
        for model, zero, k in itertools.product(models, [0, 1, 3] if shards else [0], counts):
            yield Case(model, layers, arrangement, zero, k)


def pairs(case):
    """Every two of what a case says: axes and their sizes, options, model, stage of ZeRO, microbatches."""
    more = case.microbatches > (2 if "pp=" in case.arrangement else 1)
    words = [*re.split("[ ,]", case.arrangement), case.model, f"zero={case.zero}", f"more={more}"]
    return set(itertools.combinations(sorted(words), 2))


def covering_cases():
    """A greedy choice that leaves no pair out; of those with equally many new pairs, the words seen least."""
    candidates = [case for case in all_cases() if case.model != "moe" or hasExperts(case.arrangement)
                  or case.arrangement in WITH_EXPERTS]
    missing, used = set().union(*map(pairs, candidates)), collections.Counter()
    while missing:
        best = max(candidates, key=lambda case: (len(pairs(case) & missing), -used[case.model] - used[case.zero]))
        missing -= pairs(best)
        used.update([best.model, best.zero])
        yield best


class Failure(Exception):
    pass


def run(folder, *command):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: ends with {done.returncode}: {done.stderr[-2000:]}")
    return done


def train(folder, binary, log, *options, steps=STEPS):
    run(folder, f"./{binary}", "train", "--data", "tokens", "--steps", steps, "--threads", 1, "--lr", "3e-3",
        "--schedule", "constant", "--warmup", 0, "--eval-every", 5, "--eval-batches", 2, "--log", log, "--force", *options)
    lines = [json.loads(line) for line in (folder / log).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key in ("step", "loss", "grad_norm", "eval_loss")} for line in lines]


def compare(what, lines, reference):
    if len(lines) != len(reference):
        raise Failure(f"{what}: {len(lines)} and {len(reference)} lines")
    for one, other in zip(lines, reference):
        for key in other:
            error = abs(one[key] - other[key]) / max(abs(other[key]), 1e-3)
            if not error <= TOLERANCE:
                raise Failure(f"{what}: step {one['step']}: {key} {one[key]!r} and {other[key]!r}, relative error {error:.1e}")


def flags_of(arrangement, zero, k):
    mesh, *words = arrangement.split()
    flags = [f"--mesh={mesh}", *(f"--{word}" for word in words), "--transports=threads", "--clip=0.5"]
    return flags + ([f"--zero={zero}"] if zero else []) + ([f"--accumulate={k}"] if k > 1 else [])


def reference(folder, model, layers, k):
    """The binary of one rank, its losses and a checkpoint."""
    name = f"one-{model}-{layers}-{k}"
    run(folder, "braidc", f"{model}-{layers}.mlir", "-o", name, "--clip=0.5", *([f"--accumulate={k}"] if k > 1 else []))
    train(folder, name, f"{name}.part", "--checkpoint", f"{name}.saved", steps=SAVED)
    return name, train(folder, name, f"{name}.jsonl")


def check(folder, case, references):
    model, layers, arrangement, zero, k = case
    binary, expected = references[model, layers, k]
    name = "-".join([model, re.sub("[ ,:]", "-", arrangement).replace("=", ""), str(zero), str(k)])
    run(folder, "braidc", f"{model}-{layers}.mlir", "-o", name, *flags_of(arrangement, zero, k))
    lines = train(folder, name, f"{name}.jsonl")
    compare("against one rank", lines, expected)
    if train(folder, name, f"{name}.again") != lines:
        raise Failure("another run has other bits")
    later = [line for line in expected if line["step"] > SAVED]
    train(folder, name, f"{name}.part", "--checkpoint", f"{name}.saved", steps=SAVED)
    for what, other, saved in (("its checkpoint on one rank", binary, f"{name}.saved"),
                               ("a checkpoint of one rank", name, f"{binary}.saved")):
        shutil.rmtree(folder / f"{name}.copy", ignore_errors=True)
        shutil.copytree(folder / saved, folder / f"{name}.copy")
        resumed = train(folder, other, f"{name}.resumed", "--checkpoint", f"{name}.copy", "--resume")
        compare(what, [line for line in resumed if line["step"] > SAVED], later)
    (folder / name).unlink()


def main():
    folder, which, words = pathlib.Path(sys.argv[1]), (sys.argv[2:] or ["covering"])[0], sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    write_tokens(folder / "tokens", [i * i % 61 if i % 3 else i % 17 for i in range(20000)], 64)
    for (model, config), layers in itertools.product(MODELS.items(), (4, 8)):
        config = {**config, "n_layer" if model == "gpt2" else "num_hidden_layers": layers}
        (folder / f"{model}-{layers}.json").write_text(json.dumps(config))
        run(folder, "braid-model", f"{model}-{layers}.json", f"--batch={BATCH}", f"--seq={SEQUENCE}", "-o", f"{model}-{layers}.mlir")
    cases = all_cases() if which == "all" else covering_cases()
    chosen = [case for case in cases
              if all(word in map(str, case) or word in case.arrangement for word in words)]
    graphs = sorted({(case.model, case.layers, case.microbatches) for case in chosen})
    references = {graph: reference(folder, *graph) for graph in graphs}
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for case, done in [(case, pool.submit(check, folder, case, references)) for case in chosen]:
            try:
                done.result()
            except Failure as failure:
                failures += 1
                print(f"{' '.join(map(str, case))}: {failure}")
    print(f"{len(chosen)} arrangements, {failures} failed")
    sys.exit(failures > 0 or not chosen)


if __name__ == "__main__":
    main()
