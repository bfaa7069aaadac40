#!/usr/bin/env python3
"""Imports PyTorch models and compares them with eager PyTorch: the table of docs/Importing.md.

    bench/importing/measure.py [MODEL...] [--bin build/release/bin] [--work FOLDER] [--time]

For each model, in a small configuration and float32: does torch.export take it, does braid-import, are the gradients of
the first step PyTorch's, and are the losses of ten AdamW steps and the parameters after them, compiled for one rank, for
two with --zero=3, and for tp=2. Errors are relative to a tensor's largest number, losses' to themselves. Parameters are
compared with PyTorch in float64: ten steps of Adam amplify roundings, and the column "torch" says how far PyTorch's own
float32 ends from it. Twice that error, or 1e-5, is the limit. Where something fails, its message follows the table.

--time adds the median and the least milliseconds of a step of a larger configuration, here, by torch.compile, and of
braid-model's graph of the same configuration. The runs alternate.

Needs torch, transformers and safetensors.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import models
    import numpy
    import speed
    import torch
    from safetensors.torch import load_file, save_file
except ModuleNotFoundError as missing:
    sys.exit(f"{__doc__}\nerror: {missing}; run this by a Python that has torch, transformers and safetensors")

STEPS = 10
MESHES = {"1 rank": [], "dp=2 --zero=3": ["--mesh=dp=2", "--zero=3"], "tp=2": ["--mesh=tp=2"]}
ADAM = {"lr": 1e-2, "betas": (0.9, 0.95), "eps": 1e-3, "weight_decay": 0.1}
COMPILE = ["--optimizer=adamw", "--beta2=0.95", "--eps=1e-3", "--weight-decay=0.1"]
TRAIN = ["--batch-order=sequential", "--holdout=0", f"--steps={STEPS}", "--lr=1e-2", "--lr-schedule=constant", "--warmup=0",
         "--force"]
COLUMNS = ["model", "exports", "imports", "gradients", *MESHES, "torch", "recognized"]
LIMITS = {"gradients": 1e-4, "losses": 1e-5, "parameters": 1e-5}


class Failed(Exception):
    """A command that failed, with its message."""


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"status {done.returncode}"]
        errors = [line for line in lines if "error:" in line] or lines[-1:]
        raise Failed(f"{Path(command[0]).name}: {errors[0]}")
    return done.stdout


def loss_of(output):
    if isinstance(output, tuple):
        return next(part for part in output if part.dim() == 0)
    return output if isinstance(output, torch.Tensor) else output.loss


def error_of(found, wanted):
    scale = max(wanted.abs().max().item(), 1e-3)
    return (found.reshape(wanted.shape) - wanted).abs().max().item() / scale


def worst(found, wanted, what):
    """Returns the largest error of tensors by name; PyTorch's gradients of None are not compared."""
    missing = [name for name in wanted if name not in found]
    if missing:
        raise Failed(f"no {what} of {missing[0]}")
    return max(error_of(found[name], tensor) for name, tensor in wanted.items())


class Reference:
    """What eager PyTorch computes, and the program that it exports."""

    def __init__(self, name, size, text):
        self.name, self.model = name, models.build(name, size)
        self.batches = list(models.batches(name, size, text, STEPS))

    def export(self, path):
        torch.export.save(torch.export.export(self.model, (), dict(self.batches[0])), path)

    def in_double(self):
        """Returns the parameters after the same steps in float64."""
        exact = Reference.__new__(Reference)
        exact.model = models.build(self.name, models.TINY).double()
        if self.name == "Mixtral":  # its grouped products have no float64
            exact.model.set_experts_implementation("eager")
        exact.batches = [{key: value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
                          for key, value in batch.items()} for batch in self.batches]
        exact.train()
        return exact.after

    def train(self):
        optimizer = torch.optim.AdamW([p for p in self.model.parameters() if p.requires_grad], **ADAM)
        self.losses = []
        for batch in self.batches:
            loss = loss_of(self.model(**batch))
            optimizer.zero_grad()
            loss.backward()
            if not self.losses:
                self.gradients = {key: p.grad.clone() for key, p in self.model.named_parameters() if p.grad is not None}
            optimizer.step()
            self.losses.append(loss.item())
        self.after = {key: p.detach().clone() for key, p in self.model.named_parameters()}

    def tensors(self):
        return {key: value for key, value in self.batches[0].items() if isinstance(value, torch.Tensor)}


class Check:
    def __init__(self, name, arguments, folder, text):
        self.name, self.bin, self.folder = name, Path(arguments.bin), folder
        self.row, self.messages = {"model": name}, []
        self.run, self.loss_of = run, loss_of
        self.reference = Reference(name, models.TINY, text)
        self.is_text = "tokens" in models.MODELS[name].inputs(models.TINY).values()

    def attempt(self, column, action):
        """Fills a cell; returns whether it is within the limits."""
        try:
            self.row[column] = action()
        except Exception as problem:  # any failure of a model is a cell of the table
            self.row[column] = "no"
            self.messages.append(f"{self.name}, {column}: {str(problem).strip().splitlines()[0]}")
            return False
        return True

    def within(self, **errors):
        for what, error in errors.items():
            limit = max(LIMITS[what], 2 * self.own_error if what == "parameters" else 0)
            if not error <= limit:
                raise Failed(f"error {error:.1e} of {what} exceeds {limit:.0e}")
        return ", ".join(f"{error:.0e}" for error in errors.values())

    def export(self):
        self.reference.export(self.folder / "model.pt2")
        return "yes"

    def imported(self):
        program, options = self.folder / "model.pt2", models.MODELS[self.name].options
        run(self.bin / "braid-import", program, "-o", self.folder / "model.mlir", "--weights",
            self.folder / "model.safetensors", *options)
        found = run(self.bin / "braid-import", program, "--summary", *options).splitlines()
        counts = [line.split(maxsplit=1)[1] for line in found if line.startswith("recognized")]
        ops = [line.split() for line in found if line.startswith("op ")]
        counts += [f"{name.rstrip(':').removeprefix('tg.')}: {count}" for _, name, count in ops
                   if name.startswith(("tg.attention", "tg.expert_slots"))]
        self.row["recognized"] = "; ".join(counts)
        return "yes"

    def gradients(self):
        inputs = {key: value if value.is_floating_point() else value.int() for key, value in self.reference.tensors().items()}
        save_file(load_file(self.folder / "model.safetensors") | inputs, self.folder / "in.safetensors")
        run(self.bin / "braid-interp", self.folder / "model.mlir", "--function=model", "--inputs", self.folder / "in.safetensors",
            "--outputs", self.folder / "out.safetensors", "--pipeline-before=tg-differentiate{function=model}")
        found = {key.removeprefix("grad_of "): value for key, value in load_file(self.folder / "out.safetensors").items()}
        return self.within(gradients=worst(found, self.reference.gradients, "gradient"))

    def data(self, text, batches):
        """Returns the options that name the data: the text, or a file of rows beside it for a model without tokens."""
        if self.is_text:
            return [text, "--data-format=nanogpt"]
        rows = {}
        for batch in batches:
            for key, value in batch.items():
                rows.setdefault(key, []).append(value if value.is_floating_point() else value.int())
        path = self.folder / f"{text.stem}.rows.safetensors"
        save_file({key: torch.cat(parts) for key, parts in rows.items()}, path)
        return [path]

    def steps(self, options):
        binary, log = self.folder / "train", self.folder / "log.jsonl"
        for old in ("run", "after"):
            shutil.rmtree(self.folder / old, ignore_errors=True)
        run(self.bin / "braidc", self.folder / "model.mlir", "-o", binary, *COMPILE, *options)
        data = self.data(self.folder.parent / "tokens.bin", self.reference.batches)
        log.unlink(missing_ok=True)
        run(binary, "train", "--data", *data, *TRAIN, "--init", self.folder / "model.safetensors", "--log", log,
            "--checkpoint", self.folder / "run")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        found = [line["loss"] for line in lines if "loss" in line and "step" in line]
        run(binary, "export", self.folder / "after", "--checkpoint", self.folder / "run")
        losses = max(abs(a - b) / abs(b) for a, b in zip(found, self.reference.losses, strict=True))
        after = load_file(self.folder / "after" / "model.safetensors")
        return self.within(losses=losses, parameters=worst(after, self.exact, "parameter"))

    def all(self):
        if self.attempt("exports", self.export) and self.attempt("imports", self.imported):
            self.reference.train()
            self.exact = self.reference.in_double()
            self.own_error = worst(self.reference.after, self.exact, "parameter")
            self.row["torch"] = f"{self.own_error:.0e}"
            self.attempt("gradients", self.gradients)
            for column, options in MESHES.items():
                self.attempt(column, lambda options=options: self.steps(options))


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *([row.get(column, "") for column in columns] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(models.MODELS))
    parser.add_argument("--bin", default="build/release/bin", help="folder of braid-import, braidc and braid-interp")
    parser.add_argument("--work", help="folder for the files of each model, which then stay")
    parser.add_argument("--time", action="store_true", help="time steps, too")
    parser.add_argument("--no-checks", action="store_true", help="time steps alone")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.models if name not in models.MODELS]
    if unknown:
        parser.error(f"no model {unknown[0]}; the models are {', '.join(models.MODELS)}")
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(arguments.work or temporary)
        work.mkdir(parents=True, exist_ok=True)
        size = models.TINY
        text = numpy.random.default_rng(0).integers(0, size.vocabulary, size.batch * size.length * STEPS + 1)
        text.astype(numpy.uint16).tofile(work / "tokens.bin")
        rows, messages, columns = [], [], list(COLUMNS)
        for name in arguments.models or models.MODELS:
            folder = work / name
            folder.mkdir(exist_ok=True)
            check = Check(name, arguments, folder, text)
            if not arguments.no_checks:
                check.all()
            if arguments.time:
                check.row |= speed.measure(check, folder)
            rows.append(check.row)
            messages += check.messages
            print(table(columns, [check.row]).splitlines()[-1], file=sys.stderr, flush=True)
    if arguments.time:
        columns = (["model"] if arguments.no_checks else columns) + speed.COLUMNS
    print("\n".join([table(columns, rows), "", *messages]))


if __name__ == "__main__":
    main()
