#!/usr/bin/env python3
"""follow_advice.py DRAWS SEED FOLDER

Draws models with axes of ranks and ways of attention that often do not go together.  Where braidc refuses a draw and
names an option that helps, the option is given: a second refusal that is about that option, or the first once more, is a
failure.  What a message says to leave out is left out."""

import json
import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.drawing import EXPERTS, FAMILIES

OPTION = r"--[a-z][a-z-]*(?:=\w[\w.-]*\w|=\w)?"
OF_MODEL = ("--seq", "--batch", "--mesh", "--count")  # numbers, which say what divides what


def refusal_of(words):
    """Returns the error message of a command; None if it succeeds."""
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [line.split("error: ", 1)[1] for line in done.stderr.splitlines() if "error: " in line]
    return lines[0] if lines else sys.exit(f"{' '.join(words)} ended with {done.returncode} and said '{done.stderr}'")


def config_of(draw, family):
    heads = draw.choice([1, 2, 4, 6])
    if family == "gpt2":
        return {"model_type": family, "n_embd": heads * 8, "n_layer": 2, "n_head": heads, "n_positions": 48, "vocab_size": 32,
                "n_inner": 16, "attn_pdrop": draw.choice([0, 0.1])}
    config = {"model_type": family, "hidden_size": heads * 8, "intermediate_size": 16, "num_hidden_layers": 2,
              "num_attention_heads": heads, "num_key_value_heads": draw.choice([k for k in (1, 2, 4, 6) if heads % k == 0]),
              "vocab_size": 32, "max_position_embeddings": 48, **FAMILIES[family]}
    if family == "gpt_neox":
        config.pop("num_key_value_heads")
    if FAMILIES[family].keys() >= EXPERTS.keys() or family == "qwen3_moe":
        config |= {"num_local_experts": 4} if family == "mixtral" else {"num_experts": 4, "moe_intermediate_size": 8}
    return config


def options_of(draw):
    """Options of braidc; ranks of a context and of tensors are usual, and what goes with them."""
    tp, cp = draw.choice([1, 2, 2, 4]), draw.choice([1, 2, 2, 3, 4])
    axes = {"dp": draw.choice([1, 1, 1, 2]), "tp": tp, "cp": cp, "pp": draw.choice([1] * 6 + [2])}
    options = ["--mesh=" + (",".join(f"{axis}={size}" for axis, size in axes.items() if size > 1) or "dp=2")]

    def maybe(chance, *choices):
        if draw.random() < chance:
            options.append(draw.choice(choices))
    if axes["pp"] > 1:
        options.append("--accumulate=2")
    maybe(0.5 * (tp > 1), "--sequence-parallel")
    maybe(0.2 * (tp > 1), "--tp-overlap=2")
    maybe(0.8 * (cp > 1), "--context=ring", "--context=gather", "--context=ulysses")
    maybe(0.4 * (cp > 1), "--context-order=straight", "--context-order=zigzag", "--context-order=zigzag")
    maybe(0.3, "--attention=decompose", "--attention=tiles")
    maybe(0.15, "--loss-chunk=4")
    maybe(0.15, "--recompute=full", "--recompute=selective")
    maybe(0.15, "--zero=1", "--zero=3")
    maybe(0.1, "--optimizer-state=int8")
    maybe(0.1, "--precision=bf16")
    maybe(0.15, "--target=cuda")
    return options


def name_of(option):
    return option.split("=")[0]


def advised(message, options):
    """(what helps, the options with it) for each advice of a message."""
    left_out = {name for name in re.findall(rf"(?:leave|without) ({OPTION})", message) if name in options}
    rest = [option for option in options if option not in left_out]
    if left_out:
        yield " ".join(sorted(left_out)), rest
    for option in re.findall(OPTION, message):
        if option in options or option in map(name_of, options) or name_of(option) in OF_MODEL:
            continue
        isWithout = f"{option} without" in message
        kept = rest if isWithout else options
        yield option, [other for other in kept if name_of(other) != name_of(option)] + [option]


def main():
    draws, seed, folder = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    config, graph, refused, followed, wrong = folder / "config.json", folder / "graph.mlir", 0, 0, 0
    for number in range(seed, seed + draws):
        draw = random.Random(number)
        config.write_text(json.dumps(config_of(draw, draw.choice([*FAMILIES, "gemma2"]))))
        shape = [f"--batch={draw.choice([4, 8])}", f"--seq={draw.choice([6, 8, 12, 16, 24])}", *draw.choice([[], [], [], ["--pack"]])]
        subprocess.run(["braid-model", str(config), *shape, "-o", str(graph)], check=True)
        compiler, options = ["braidc", str(graph), "--emit=exec", "-o", str(folder / "out")], options_of(draw)
        first = refusal_of([*compiler, *options])
        refused += first is not None
        for advice, others in advised(first or "", options):
            followed += 1
            second = refusal_of([*compiler, *others])
            if second and (second == first or name_of(advice) in second):
                wrong += 1
                print(f"{number}: {config.read_text()} {' '.join(shape + options)}\n  refused: {first}\n  with {advice}: {second}")
    print(f"{draws} draws, {refused} refused, {followed} advices followed, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
