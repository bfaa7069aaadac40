#!/usr/bin/env python3
"""compare_logits.py TRAINING-BINARY FOLDER --text TEXT

Loads an exported folder with Hugging Face Transformers. Compares its logits for the token after TEXT with those of the
training binary for the same weights. Needs `transformers` and `torch`."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils.logging import disable_progress_bar


def window_of(binary):
    """Tokens in a row of the compiled model. `run` also writes its random inputs, which show this number."""
    with tempfile.TemporaryDirectory() as scratch:
        outputs = pathlib.Path(scratch, "outputs")
        subprocess.run([str(binary), "run", "--program=generate", f"--outputs={outputs}"], check=True,
                       stdout=subprocess.DEVNULL)
        with safe_open(outputs, "pt") as file:
            return file.get_slice("tokens").get_shape()[-1]


def logits_of_transformers(folder, tokens):
    model, report = AutoModelForCausalLM.from_pretrained(folder, dtype="auto", output_loading_info=True)
    if any(report.values()):
        sys.exit(f"{folder} does not fit {type(model).__name__}: {report}")
    with torch.no_grad():
        return model.eval()(torch.tensor([tokens])).logits[0, -1]


def logits_of_binary(binary, folder, tokens, window):
    """Runs the program `generate`, which takes a row and the position of the last token that counts."""
    with tempfile.TemporaryDirectory() as scratch:
        inputs, outputs = pathlib.Path(scratch, "inputs"), pathlib.Path(scratch, "outputs")
        weights = {name: tensor for file in folder.glob("*.safetensors") for name, tensor in load_file(file).items()}
        row = torch.tensor([tokens + [0] * (window - len(tokens))], dtype=torch.int32)
        save_file(weights | {"tokens": row, "position": torch.tensor(len(tokens) - 1, dtype=torch.int32)}, inputs)
        subprocess.run([str(binary), "run", "--program=generate", f"--inputs={inputs}", f"--outputs={outputs}"],
                       check=True, stdout=subprocess.DEVNULL)
        return load_file(outputs)["logits"].reshape(-1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--text", default="Subject to the terms and conditions of")
    arguments = parser.parse_args()
    disable_progress_bar()
    tokenizer = AutoTokenizer.from_pretrained(arguments.folder)
    window = window_of(arguments.binary.resolve())
    tokens = tokenizer.encode(arguments.text)[:window]
    theirs = logits_of_transformers(arguments.folder, tokens)
    ours = logits_of_binary(arguments.binary.resolve(), arguments.folder, tokens, window)
    difference = ((theirs - ours).abs().max() / theirs.abs().max()).item()
    print(f"behind '{arguments.text}' comes '{tokenizer.decode(theirs.argmax())}', and by the binary "
          f"'{tokenizer.decode(ours.argmax())}'")
    print(f"the logits are the same to {difference:.0e} of the largest" if difference < 1e-5 else
          f"the logits differ by {difference:.1e} of the largest")
    sys.exit(0 if difference < 1e-5 else 1)


if __name__ == "__main__":
    main()
