#!/usr/bin/env python3
"""Compares an imported model with what PyTorch or JAX computed (make_fixtures.py, make_jax_fixtures.py).

  against_pytorch.py gradients NAME FOLDER
  against_pytorch.py steps NAME FOLDER [OPTION of braidc...]
  against_pytorch.py whole NAME FOLDER

`gradients` differentiates the graph and runs the first step in the interpreter. `steps` compiles the graph, trains ten
steps of AdamW, and compares losses and parameters. `whole` trains ten steps of a graph that has its own optimizer, and
compares losses, parameters and states. Errors are relative to the largest element of a tensor.
"""

import array
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

INPUTS = Path(__file__).parent
TOLERANCE = 1e-5


def read(path):
    """Returns the bytes and the type of each tensor of a safetensors file."""
    data = Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    return {name: (entry["dtype"], entry["shape"], data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]])
            for name, entry in header.items() if name != "__metadata__"}


def write(tensors, path):
    header, offset = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        offset += len(data)
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def error_of(found, wanted):
    a, b = array.array("f", found[2]), array.array("f", wanted[2])
    if len(a) != len(b):
        sys.exit(f"{len(a)} elements instead of {len(b)}")
    return max(abs(x - y) for x, y in zip(a, b)) / max(max(map(abs, b)), 1e-3)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{Path(command[0]).name}: {done.stderr}")


def compare(what, found, golden, prefix):
    """Compares the golden tensors of a prefix with those that are found under the rest of their names."""
    errors = {}
    for key, wanted in golden.items():
        if key.startswith(prefix):
            name = key[len(prefix):]
            if name not in found:
                sys.exit(f"no {what} of {name} among {sorted(found)}")
            errors[name] = error_of(found[name], wanted)
    worst = max(errors, key=errors.get)
    if not errors[worst] <= TOLERANCE:
        sys.exit(f"{what} of {worst}: error {errors[worst]:.2g} exceeds {TOLERANCE}")
    print(f"{len(errors)} {what} agree")


def gradients(golden, folder):
    inputs = {key[len("input."):]: value for key, value in golden.items() if key.startswith("input.")}
    write(read(folder / "model.safetensors") | inputs, folder / "in.safetensors")
    run("braid-interp", folder / "model.mlir", "--function=model", "--inputs", folder / "in.safetensors", "--outputs",
        folder / "out.safetensors", "--pipeline-before=tg-differentiate{function=model}")
    found = read(folder / "out.safetensors")
    compare("gradients", {name[len("grad_of "):] if name.startswith("grad_of ") else name: value for name, value in found.items()},
            golden, "grad.")


def train(golden, folder, data, *options):
    """Trains ten steps of a compiled graph, and compares losses."""
    run(folder / "train", "train", "--data", *data, "--batch-order=sequential", "--holdout=0", "--steps=10",
        "--lr-schedule=constant", "--warmup=0", "--init", folder / "model.safetensors", "--log", folder / "log.jsonl",
        "--checkpoint", folder / "run", "--force", *options)
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in lines if "loss" in line and "step" in line]
    wanted = list(array.array("f", golden["loss"][2]))
    if len(losses) != len(wanted) or any(abs(a - b) > TOLERANCE * b for a, b in zip(losses, wanted)):
        sys.exit(f"losses {losses} instead of {wanted}")
    print(f"{len(losses)} losses agree")


def steps(golden, folder, options):
    run("braidc", folder / "model.mlir", "-o", folder / "train", "--optimizer=adamw", "--beta2=0.95", "--eps=1e-3",
        "--weight-decay=0.1", *options)
    train(golden, folder, (INPUTS / "tokens.bin", "--data-format=nanogpt"), "--lr=1e-2")
    run(folder / "train", "export", folder / "after", "--checkpoint", folder / "run")
    compare("parameters", read(folder / "after" / "model.safetensors"), golden, "after.")


def whole(golden, folder):
    run("braidc", folder / "model.mlir", "-o", folder / "train")
    data = {key[len("data."):]: value for key, value in golden.items() if key.startswith("data.")}
    write(data, folder / "data.safetensors")
    train(golden, folder, [folder / "data.safetensors"])
    compare("tensors", read(folder / "run" / "step-00000010.safetensors"), golden, "after.")


def main():
    what, name, folder, *options = sys.argv[1:]
    folder = Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    golden = read(INPUTS / f"{name}.golden.safetensors")
    if name.startswith("jax_"):
        roles = ["--input=features=features", "--input=labels=labels"] if name == "jax_mlp" else []
        run("braid-import", INPUTS / f"{name}.mlir", "-o", folder / "model.mlir", *roles)
        write({key[len("param."):]: value for key, value in golden.items() if key.startswith("param.")},
              folder / "model.safetensors")
    else:
        run("braid-import", INPUTS / f"{name}.pt2", "-o", folder / "model.mlir", "--weights", folder / "model.safetensors")
    if what == "steps":
        steps(golden, folder, options)
    else:
        {"gradients": gradients, "whole": whole}[what](golden, folder)


if __name__ == "__main__":
    main()
