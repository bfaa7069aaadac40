#!/usr/bin/env python3
"""Trains tiny models with their ranks in every arrangement of axes, as threads of one process.

    axes.py FOLDER [covering|all] [WORD...]    arrangements whose text has all the words

Ten steps give the losses and gradient norms of one rank to 1e-5, and the same bits when they are
run again.  A checkpoint of five steps goes on on one rank with the losses of one rank, and one of
one rank goes on on these.  `covering` has every arrangement with some model and every model and
stage of ZeRO with some arrangement, and arrangements of experts with every stage.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "equivalence" / "Inputs"))
from random_models import write_tokens

TOLERANCE, STEPS, SAVED = 1e-5, 10, 5
BATCH, SEQUENCE = 8, 16
MODELS = {
    "gpt2": {"model_type": "gpt2", "n_embd": 32, "n_layer": 4, "n_head": 4, "n_positions": 16, "vocab_size": 64,
             "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.0, "tie_word_embeddings": True},
    "llama": {"model_type": "llama", "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 8,
              "num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": 16, "vocab_size": 64,
              "tie_word_embeddings": False},
    "moe": {"model_type": "mixtral", "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
            "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": 16, "vocab_size": 64,
            "num_local_experts": 4, "num_experts_per_tok": 2, "tie_word_embeddings": False},
}
# Of each, what is said to braidc; ZeRO needs dp, cp or ep, and ep experts.
ARRANGEMENTS = [
    "tp=2", "tp=4", "tp=2 sequence-parallel", "tp=4 sequence-parallel",
    "cp=2 context=gather", "cp=4 context=gather", "cp=2 context=ring", "cp=4 context=ring", "cp=2 context=ulysses", "cp=2",
    "dp=2,tp=2", "dp=2,tp=2 sequence-parallel", "dp=2,cp=2", "cp=2,tp=2", "cp=2,tp=2 sequence-parallel",
    "dp=2,cp=2 context=ring", "dp=2,cp=2,tp=2 context=ring", "dp=2,cp=2,tp=2", "dp=2,cp=2,tp=2 sequence-parallel", "replica=2,shard=2,tp=2",
    "pp=2", "pp=2 schedule=interleaved chunks=2", "pp=2 schedule=zb-v", "dp=2,pp=2", "pp=2,tp=2 schedule=zb-h1",
    "pp=2,dp=2,tp=2", "pp=2,cp=2,tp=2",
    "ep=2", "ep=4", "dp=2,ep=2", "ep=2,tp=2", "ep=2,cp=2", "pp=2,ep=2", "pp=2,ep=2 schedule=zb-v",
    "dp=4 fold=ep:dp", "dp=2,cp=2 fold=ep:dp,cp", "pp=2,dp=2,cp=2 fold=ep:cp",
] + [f"pp=4 schedule={schedule}" for schedule in ("gpipe", "1f1b", "zb-h1")] + ["pp=2,cp=2"]


def cases(which):
    """(model, arrangement, stage of ZeRO, microbatches)"""
    number = 0
    for arrangement in ARRANGEMENTS:
        shards = any(axis in arrangement for axis in ("dp=", "cp=", "shard=", "ep="))
        stages = [0, 1, 3] if shards else [0]
        # Pipelines take as many microbatches as ranks, and interleaved ones a multiple of them.
        counts = (2, 4) if "pp=" in arrangement else (1, 2)
        hasExperts = "ep=" in arrangement or "fold=" in arrangement
        for model in ["moe"] if hasExperts else MODELS:
            if which == "all":
                yield from ((model, arrangement, zero, k) for zero in stages for k in counts)
            elif hasExperts:
                yield from ((model, arrangement, zero, counts[i % 2]) for i, zero in enumerate(stages))
            else:
                # Experts where they differ from other weights.
                if model != "moe" or arrangement in ("tp=4", "tp=2 sequence-parallel", "dp=2,cp=2,tp=2",
                                                          "pp=2,dp=2,tp=2"):
                    yield model, arrangement, stages[number % len(stages)], counts[number // 2 % 2]
                number += model != "moe"


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


def reference(folder, model, k):
    """The binary of one rank, its losses and a checkpoint."""
    name = f"one-{model}-{k}"
    run(folder, "braidc", f"{model}.mlir", "-o", name, "--clip=0.5", *([f"--accumulate={k}"] if k > 1 else []))
    train(folder, name, f"{name}.part", "--checkpoint", f"{name}.saved", steps=SAVED)
    return name, train(folder, name, f"{name}.jsonl")


def check(folder, case, references):
    model, arrangement, zero, k = case
    binary, expected = references[model, k]
    name = "-".join([model, arrangement.replace(" ", "-").replace("=", "").replace(",", "-"), str(zero), str(k)])
    run(folder, "braidc", f"{model}.mlir", "-o", name, *flags_of(arrangement, zero, k))
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
    for model, config in MODELS.items():
        (folder / f"{model}.json").write_text(json.dumps(config))
        run(folder, "braid-model", f"{model}.json", f"--batch={BATCH}", f"--seq={SEQUENCE}", "-o", f"{model}.mlir")
    chosen = [case for case in cases(which) if all(word in " ".join(map(str, case)).split() or word in case[1] for word in words)]
    references = {pair: reference(folder, *pair) for pair in sorted({(case[0], case[3]) for case in chosen})}
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
