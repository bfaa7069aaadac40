#!/usr/bin/env python3
"""Trains tiny models with their ranks in every arrangement of axes.

    axes.py FOLDER compiled|interpreted|all [WORD|-WORD...]    arrangements with all the words and none of the -words
    axes.py FOLDER pairs                                       counts the pairs of words that the selections have

`all` compiles everything that occurs, whose ranks are threads of one process.  From weights whose attention is peaked
(first_step.py), the gradients of a step are those of one rank.  Ten steps give its losses to 3e-5, its gradient norms to 2e-4, and
the same bits when they are run again.  A checkpoint of five steps goes on on one rank
with the losses of one rank, and one of one rank goes on on these.

`compiled` is a part of it with every word, every two of an axis and another option, and every two of an axis, a model,
a stage of ZeRO and a number of microbatches.  `interpreted` has every other two words that occur together in `all`:
two steps and two evaluations of the memory form in the interpreter give the numbers and gradients of the graph.
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
import first_step
from random_models import write_tokens

TOLERANCE, STEPS, SAVED, INTERPRETED_STEPS = 1e-5, 10, 5, 2
BATCH, SEQUENCE = 8, 24  # of which 4 ranks have 6 positions each: no multiple of what kernels take at a time
MODELS = {
    "gpt2": {"model_type": "gpt2", "n_embd": 32, "n_head": 4, "n_positions": SEQUENCE, "vocab_size": 64,
             "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.0, "tie_word_embeddings": True},
    "llama": {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 8,
              "num_key_value_heads": 2, "intermediate_size": 48, "max_position_embeddings": SEQUENCE, "vocab_size": 64,
              "tie_word_embeddings": False},
    "moe": {"model_type": "mixtral", "hidden_size": 32, "num_attention_heads": 4,
            "num_key_value_heads": 2, "intermediate_size": 32, "max_position_embeddings": SEQUENCE, "vocab_size": 64,
            "num_local_experts": 4, "num_experts_per_tok": 2, "output_router_logits": True, "router_aux_loss_coef": 0.05,
            "tie_word_embeddings": False},
}
# Options for braidc. ZeRO needs dp, cp or ep, and ep needs experts.
ARRANGEMENTS = [
    "tp=2", "tp=4", "tp=2 sequence-parallel", "tp=4 sequence-parallel",
    "cp=2", "cp=3", "cp=2 context=gather", "cp=4 context=gather", "cp=2 context=ring", "cp=4 context=ring", "cp=2 context=ulysses",
    "cp=2 context=ring context-order=straight", "cp=4 context=ring context-order=straight",
    "dp=2,tp=2", "dp=2,tp=2 sequence-parallel", "dp=2,cp=2", "dp=2,cp=2 context=ring", "cp=2,tp=2",
    "cp=2,tp=2 sequence-parallel", "cp=2,tp=2 sequence-parallel context=ring", "dp=2,cp=2,tp=2", "dp=2,cp=2,tp=2 context=ring", "dp=2,cp=2,tp=2 sequence-parallel",
    "replica=2,shard=2,tp=2",
    # Rates with which chunks save time.
    *(f"{words} link=1,0.01 compute=1,10" for words in (
        "tp=2 tp-overlap=2", "tp=2 sequence-parallel tp-overlap=2", "dp=2,tp=2 tp-overlap=auto",
        "dp=4,tp=2 sequence-parallel tp-overlap=2", "pp=2,tp=2 sequence-parallel tp-overlap=2")),
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


def layers_of(arrangement):
    """Returns as many layers as stages and chunks need, and at least a first, a middle and a last one."""
    stages = 4 if "pp=4" in arrangement else 2 if "pp=2" in arrangement else 1
    return max(3, stages * (2 if "chunks" in arrangement or "zb-v" in arrangement else 1))


def all_cases():
    for arrangement in ARRANGEMENTS:
        shards = any(axis in arrangement for axis in ("dp=", "cp=", "shard=", "ep="))
        # Pipelines need as many microbatches as ranks, and interleaved ones a multiple of this number.
        counts = ((4,) if "chunks" in arrangement and "pp=4" in arrangement else (2, 4)) if "pp=" in arrangement else (1, 2)
        layers = layers_of(arrangement)
        models = ["moe"] if hasExperts(arrangement) else MODELS
        for model, zero, k in itertools.product(models, [0, 1, 3] if shards else [0], counts):
            yield Case(model, layers, arrangement, zero, k)


def words_of(case):
    """Axes and their sizes and options, then the model, the stage of ZeRO and whether there are more microbatches."""
    more = case.microbatches > (2 if "pp=" in case.arrangement else 1)
    return re.split("[ ,]", case.arrangement), [case.model, f"zero={case.zero}", f"more={more}"]


def pairs(case):
    """Returns every pair of words of a case."""
    arrangement, others = words_of(case)
    return set(itertools.combinations(sorted(arrangement + others), 2))


def compiled_pairs(case):
    """Every word, and every two of an axis and what else a case says; an axis is the same with any size."""
    arrangement, others = words_of(case)
    axes = {match[1] for word in arrangement if (match := re.match("(pp|dp|cp|tp|ep|replica|shard)=", word))}
    options = [word for word in arrangement if word.split("=")[0] not in axes]
    return (set(itertools.combinations(sorted([*axes, *options]), 2)) | set(itertools.combinations(sorted([*axes, *others]), 2))
            | {(word,) for word in arrangement})


def covering(candidates, pairs_of, missing):
    """A greedy choice that has all that is missing; of those with equally many new pairs, the words seen least."""
    used, missing = collections.Counter(), set(missing)
    while missing:
        best = max(candidates, key=lambda case: (len(pairs_of(case) & missing), -used[case.model] - used[case.zero]))
        assert pairs_of(best) & missing, missing
        missing -= pairs_of(best)
        used.update([best.model, best.zero])
        yield best


def selections():
    """The cases of each; `all` has the others that train experts without ranks of their own, too."""
    candidates = [case for case in all_cases() if case.model != "moe" or hasExperts(case.arrangement)
                  or case.arrangement in WITH_EXPERTS]

    def union(pairs_of, cases):
        return set().union(*map(pairs_of, cases))
    compiled = list(covering(candidates, compiled_pairs, union(compiled_pairs, candidates)))
    interpreted = list(covering(candidates, pairs, union(pairs, candidates) - union(pairs, compiled)))
    assert union(pairs, compiled + interpreted) == union(pairs, candidates)
    return {"compiled": compiled, "interpreted": interpreted, "all": list(all_cases())}


class Failure(Exception):
    pass


def run(folder, *command):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: ends with {done.returncode}: {done.stderr[-2000:]}")
    return done


def train(folder, binary, k, log, *options, steps=STEPS):
    """Returns the log of a binary with k microbatches, which evaluates in batches of one."""
    run(folder, f"./{binary}", "train", "--data", "tokens", "--steps", steps, "--threads", 1, "--lr", "1e-3",
        "--lr-schedule", "constant", "--warmup", 0, "--eval-every", 5, "--eval-batches", 2 * k, "--log", log, "--force", *options)
    lines = [json.loads(line) for line in (folder / log).read_text().splitlines()]
    return [{key: value for key, value in line.items() if key in ("step", "loss", "grad_norm", "eval_loss")} for line in lines]


def save(folder, name, k):
    """Checkpoints of the first steps."""
    train(folder, name, k, f"{name}.part", "--checkpoint", f"{name}.saved", "--save-every", 1, "--keep", 0, steps=SAVED)


def same_gradients(found, expected):
    error, tensor = first_step.worst_error(found, expected)
    if not error <= first_step.TOLERANCE:
        raise Failure(f"the gradient of {tensor} is off by {error:.1e} of itself")


def compare(what, lines, reference):
    if len(lines) != len(reference):
        raise Failure(f"{what}: {len(lines)} and {len(reference)} lines")
    for one, other in zip(lines, reference):
        for key in other:
            error = abs(one[key] - other[key]) / max(abs(other[key]), 1e-3)
            # Rounding of ten steps shows in the norm first, and attention that is peaked doubles it in each.
            if not error <= TOLERANCE * (20 if key == "grad_norm" else 3):
                raise Failure(f"{what}: step {one['step']}: {key} {one[key]!r} and {other[key]!r}, relative error {error:.1e}")


def flags_of(arrangement, zero, k):
    mesh, *words = arrangement.split()
    flags = [f"--mesh={mesh}", *(f"--{word}" for word in words), "--transports=threads", "--clip=0.5"]
    return flags + ([f"--zero={zero}"] if zero else []) + ([f"--accumulate={k}"] if k > 1 else [])


def reference_of(case):
    """Model, layers and microbatches of one rank."""
    return case.model, case.layers, case.microbatches


def reference(folder, model, layers, k):
    """The binary of one rank, its losses and a checkpoint."""
    name = f"one-{model}-{layers}-{k}"
    run(folder, "braidc", f"{model}-{layers}.mlir", "-o", name, "--clip=0.5", *([f"--accumulate={k}"] if k > 1 else []))
    save(folder, name, k)
    return name, train(folder, name, k, f"{name}.jsonl")


def check(folder, case, references):
    model, layers, arrangement, zero, k = case
    binary, expected = references[reference_of(case)]
    name = "-".join([model, re.sub("[ ,:]", "-", arrangement).replace("=", ""), str(zero), str(k)])
    run(folder, "braidc", f"{model}-{layers}.mlir", "-o", name, *flags_of(arrangement, zero, k))
    lines = train(folder, name, k, f"{name}.jsonl")
    compare("against one rank", lines, expected)
    if train(folder, name, k, f"{name}.again") != lines:
        raise Failure("another run has other bits")
    later = [line for line in expected if line["step"] > SAVED]
    save(folder, name, k)
    same_gradients(*(first_step.read_checkpoint(next(folder.glob(f"{which}.saved/step-00000001*"))) for which in (name, binary)))
    for what, other, saved in (("its checkpoint on one rank", binary, f"{name}.saved"),
                               ("a checkpoint of one rank", name, f"{binary}.saved")):
        shutil.rmtree(folder / f"{name}.copy", ignore_errors=True)
        shutil.copytree(folder / saved, folder / f"{name}.copy")
        resumed = train(folder, other, k, f"{name}.resumed", "--checkpoint", f"{name}.copy", "--resume")
        compare(what, [line for line in resumed if line["step"] > SAVED], later)
    (folder / name).unlink()


def interpret(folder, graph, k):
    """Returns the interpreter's logs of training and evaluation, and the tensors after training."""
    lines, tensors = [], folder / f"{graph}.st"
    for function, options in ("train", ["--set", "lr=3e-3", f"--accumulate={k}", f"--outputs={tensors}"]), ("eval", []):
        log = f"{graph}.{function}"
        run(folder, "braid-interp", f"{graph}.mlir", "--init", f"--steps={INTERPRETED_STEPS}", "--data=tokens",
            f"--log={log}", f"--function={function}", *options)
        lines.append([json.loads(line) for line in (folder / log).read_text().splitlines()])
    return lines, first_step.read_checkpoint(tensors)


def interpreted_reference(folder, model, layers, k):
    name = f"graph-{model}-{layers}-{k}"
    run(folder, "braidc", f"{model}-{layers}.mlir", "--emit=tg", "-o", f"{name}.mlir", "--clip=0.5",
        *([f"--accumulate={k}"] if k > 1 else []))
    return interpret(folder, name, k)


def check_interpreted(folder, case, references):
    model, layers, arrangement, zero, k = case
    name = "-".join([model, re.sub("[ ,:]", "-", arrangement).replace("=", ""), str(zero), str(k)])
    flags = [flag for flag in flags_of(arrangement, zero, k) if not flag.startswith("--transports")]
    run(folder, "braidc", f"{model}-{layers}.mlir", "--emit=memory", "-o", f"{name}.mlir", *flags)
    lines, tensors = interpret(folder, name, k)
    expected_lines, expected_tensors = references[model, layers, k]
    for what, found, expected in zip(("training", "evaluation"), lines, expected_lines):
        compare(what, found, expected)
    same_gradients(tensors, expected_tensors)
    (folder / f"{name}.mlir").unlink()


def write_graphs(folder, graphs):
    folder.mkdir(parents=True, exist_ok=True)
    write_tokens(folder / "tokens", [i * i % 61 if i % 3 else i % 17 for i in range(20000)], 64)
    for model, layers in sorted(graphs):
        config = {**MODELS[model], "n_layer" if model == "gpt2" else "num_hidden_layers": layers}
        (folder / f"{model}-{layers}.json").write_text(json.dumps(config))
        run(folder, "braid-model", f"{model}-{layers}.json", f"--batch={BATCH}", f"--seq={SEQUENCE}", "-o", f"{model}-{layers}.mlir")
        first_step.peak(folder / f"{model}-{layers}.mlir")


def is_chosen(case, words):
    def has(word):
        return word in map(str, case) or word in case.arrangement
    return all(not has(word[1:]) if word.startswith("-") else has(word) for word in words)


def main():
    folder, which, words = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    cases = selections()
    if which == "pairs":
        counts = {name: len(set().union(*map(pairs, chosen))) for name, chosen in cases.items()}
        print(f"{counts['compiled']} pairs are compiled, {counts['interpreted']} are interpreted")
        return
    chosen = [case for case in cases[which] if is_chosen(case, words)]
    write_graphs(folder, {(case.model, case.layers) for case in chosen})
    if which == "interpreted":
        graphs = {(case.model, case.layers, case.microbatches) for case in chosen}
        references, one = {graph: interpreted_reference(folder, *graph) for graph in sorted(graphs)}, check_interpreted
    else:
        references, one = {graph: reference(folder, *graph) for graph in sorted(set(map(reference_of, chosen)))}, check
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for case, done in [(case, pool.submit(one, folder, case, references)) for case in chosen]:
            try:
                done.result()
            except Failure as failure:
                failures += 1
                print(f"{' '.join(map(str, case))}: {failure}")
    print(f"{len(chosen)} arrangements, {failures} failed")
    sys.exit(failures > 0 or not chosen)


if __name__ == "__main__":
    main()
