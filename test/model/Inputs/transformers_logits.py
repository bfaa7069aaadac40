#!/usr/bin/env python3
"""transformers_logits.py FAMILIES SCRATCH

Trains each checkpoint of the folder FAMILIES for three steps from `--init`, and lets Hugging Face Transformers
load what the binary's `export` writes: in f32 in one file and in bf16 in several.  It must find every tensor that
it looks for and no other, and its logits of a row's last position must be those of the binary's program `generate`.
Then the other way: the binary takes what Transformers' save_pretrained writes of the same model, with its head
and, where that is tied, without, and has the same loss."""

import pathlib
import re
import shutil
import subprocess
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

TOKENS, VOCABULARY, TOLERANCE = 16, 64, 1e-4
STEP = "step-00000003.safetensors"
# How export is called, the type that Transformers then sees, and whether the weights are one file.
EXPORTS = {"f32": ([], torch.float32, True), "bf16": (["--type", "bf16", "--file-gb", 0.00001], torch.bfloat16, False)}


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def stacked(weights):
    """The tensors of all experts in one, as the model has them, with a star for their number."""
    stacks = {}
    for name, tensor in weights.items():
        stacks.setdefault(re.sub(r"(?<=\.experts\.)\d+", "*", name), {})[name] = tensor
    in_order = lambda parts: [parts[name] for name in sorted(parts, key=lambda name: (len(name), name))]
    return {name: torch.stack(in_order(parts)) if "*" in name else parts[name] for name, parts in stacks.items()}


class Family:
    def __init__(self, checkpoint, data, scratch):
        self.checkpoint, self.data, self.scratch = checkpoint, data, scratch
        self.name, self.binary = checkpoint.name, scratch / "train"
        scratch.mkdir(parents=True)

    def fail(self, text):
        sys.exit(f"{self.name}: {text}")

    def train(self):
        run("braid-model", self.checkpoint, "--batch", 2, "--seq", TOKENS, "-o", self.scratch / "model.mlir")
        run("braidc", self.scratch / "model.mlir", "-o", self.binary)
        run(self.binary, "train", "--init", self.checkpoint, "--data", self.data, "--steps", 3, "--checkpoint",
            self.scratch / "run")

    def export(self, kind):
        """Returns the folder and its tensors."""
        folder, (options, _, is_one) = self.scratch / kind, EXPORTS[kind]
        run(self.binary, "export", folder, "--checkpoint", self.scratch / "run", *options)
        files = sorted(folder.glob("*.safetensors"))
        if (len(files) == 1) != is_one or (folder / "model.safetensors.index.json").exists() == is_one:
            self.fail(f"the export in {kind} has the files {sorted(path.name for path in folder.iterdir())}")
        return folder, {name: tensor for file in files for name, tensor in load_file(file).items()}

    def logits_of_program(self, weights, tokens):
        inputs = {"tokens": tokens, "position": torch.tensor(TOKENS - 1, dtype=torch.int32)}
        save_file({name: tensor.float() for name, tensor in stacked(weights).items()} | inputs, self.scratch / "inputs")
        run(self.binary, "run", "--program", "generate", "--inputs", self.scratch / "inputs", "--outputs",
            self.scratch / "out")
        return load_file(self.scratch / "out")["logits"].reshape(-1)

    def load(self, folder, dtype):
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=dtype, output_loading_info=True, attn_implementation="eager")
        if wrong := {what: sorted(map(str, report[what])) for what in report if report[what]}:
            self.fail(f"{type(model).__name__} does not take {folder}: {wrong}")
        return model.eval()

    def check_logits(self, kind):
        """Transformers' model of the export, and how far its logits are off."""
        folder, weights = self.export(kind)
        if (stored := self.load(folder, "auto").dtype) != EXPORTS[kind][1]:
            self.fail(f"Transformers takes the export in {kind} for {stored}")
        model = self.load(folder, torch.float32)
        tokens = torch.randint(VOCABULARY, (1, TOKENS), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
        with torch.no_grad():
            expected = model(tokens.long()).logits[0, -1]
        error = ((self.logits_of_program(weights, tokens) - expected).abs().max() / expected.abs().max()).item()
        if not error <= TOLERANCE:
            self.fail(f"the logits of the export in {kind} are off by {error:.1e}")
        return model, error

    def check_weights(self):
        """An export in f32 is the checkpoint's parameters to the bit."""
        saved = load_file(self.scratch / "run" / STEP)
        for name, tensor in stacked(load_file(self.scratch / "f32" / "model.safetensors")).items():
            if not torch.equal(tensor, saved[name]):
                self.fail(f"tensor {name} is not the checkpoint's")

    def loss_of(self, folder):
        # Losses of routers count every row of a batch, so the held-out part must have whole batches.
        return run(self.binary, "eval", "--data", self.data, "--holdout", 0.5, "--init", folder, "--eval-batches",
                   2).splitlines()[-1]

    def check_way_back(self, model):
        """How many folders of Transformers' were taken."""
        # Which version 4 checks when it saves, and a family here has one that counts from the end.
        model.generation_config.pad_token_id = None
        models = [model, model.base_model] if model.config.tie_word_embeddings else [model]
        expected = self.loss_of(self.scratch / "f32")
        for number, each in enumerate(models):
            folder = self.scratch / f"saved-{number}"
            each.save_pretrained(folder)
            run("braid-model", folder, "--count", "--seq", TOKENS)
            if (found := self.loss_of(folder)) != expected:
                self.fail(f"what {type(each).__name__} saved has {found}, not {expected}")
        return len(models)


def check(checkpoint, data, scratch):
    family = Family(checkpoint, data, scratch)
    family.train()
    model, error = family.check_logits("f32")
    _, halved = family.check_logits("bf16")
    family.check_weights()
    taken = family.check_way_back(model)
    print(f"{family.name}: {type(model).__name__} has the same logits: the largest error is {error:.1e} of the largest, "
          f"and in bf16 {halved:.1e}; {taken} taken back", flush=True)


def main():
    families, scratch = map(pathlib.Path, sys.argv[1:])
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    shutil.rmtree(scratch, ignore_errors=True)
    for checkpoint in sorted(path for path in families.iterdir() if path.is_dir()):
        check(checkpoint, families / "tokens.bin", scratch / checkpoint.name)


if __name__ == "__main__":
    main()
