#!/usr/bin/env python3
"""transformers_logits.py FAMILIES SCRATCH

Trains each checkpoint of the folder FAMILIES for three steps, lets Hugging Face Transformers
load what the training binary saved, and compares its logits of a row's last position with
those of the binary's program `generate`."""

import pathlib
import shutil
import subprocess
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

STATES = (".exp_avg", ".exp_avg_sq")
TOKENS, VOCABULARY, TOLERANCE = 16, 64, 1e-4


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")


def train(checkpoint, data, scratch):
    """Compiles the model and trains it.  Returns the parameters that it saved."""
    run("braid-model", checkpoint, "--batch", 2, "--seq", TOKENS, "-o", scratch / "model.mlir")
    run("braidc", scratch / "model.mlir", "-o", scratch / "train")
    run(scratch / "train", "train", "--init", checkpoint / "model.safetensors", "--data", data, "--steps", 3,
        "--checkpoint", scratch / "run")
    saved = load_file(scratch / "run" / "step-00000003.safetensors")
    return {name: tensor for name, tensor in saved.items() if not name.endswith(STATES)}


def export(checkpoint, weights, folder):
    """A folder as from_pretrained takes it."""
    folder.mkdir()
    shutil.copy(checkpoint / "config.json", folder)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def logits_of_program(weights, tokens, scratch):
    inputs = {"tokens": tokens, "position": torch.tensor(TOKENS - 1, dtype=torch.int32)}
    save_file(weights | inputs, scratch / "inputs")
    run(scratch / "train", "run", "--program", "generate", "--inputs", scratch / "inputs", "--outputs", scratch / "out")
    return load_file(scratch / "out")["logits"].reshape(-1)


def logits_of_transformers(folder, tokens):
    model, report = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True, attn_implementation="eager")
    wrong = {key: sorted(report[key]) for key in ("missing_keys", "unexpected_keys", "mismatched_keys") if report[key]}
    if wrong:
        sys.exit(f"{folder} does not fit {type(model).__name__}: {wrong}")
    with torch.no_grad():
        return type(model).__name__, model.eval()(tokens.long()).logits[0, -1]


def check(checkpoint, data, scratch):
    scratch.mkdir(parents=True)
    weights = train(checkpoint, data, scratch)
    export(checkpoint, weights, scratch / "export")
    tokens = torch.randint(VOCABULARY, (1, TOKENS), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    made = logits_of_program(weights, tokens, scratch)
    name, expected = logits_of_transformers(scratch / "export", tokens)
    error = ((made - expected).abs().max() / expected.abs().max()).item()
    print(f"{checkpoint.name}: {name} has the same logits: the largest error is {error:.1e} of the largest")
    if not error <= TOLERANCE:
        sys.exit(f"the logits of {checkpoint.name} are off by {error:.1e}")


def main():
    families, scratch = map(pathlib.Path, sys.argv[1:])
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    shutil.rmtree(scratch, ignore_errors=True)
    for checkpoint in sorted(path for path in families.iterdir() if path.is_dir()):
        check(checkpoint, families / "tokens.bin", scratch / checkpoint.name)


if __name__ == "__main__":
    main()
