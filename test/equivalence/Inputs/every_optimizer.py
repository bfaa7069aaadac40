#!/usr/bin/env python3
"""every_optimizer.py GRAPH.mlir FOLDER

Compiles a graph with each optimizer that braidc lists, with weight decay, runs a step on
random tensors, and compares it with the interpreter's.  Prints a line for each."""

import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def optimizers():
    row = re.search(r"^\| `--optimizer=NAME` .*$", output("braidc", "--help=markdown"), re.M).group(0)
    return re.findall(r"; `(\w+)`: ", row)


def main():
    graph, folder = sys.argv[1:]
    for name in optimizers():
        binary, tensors = f"{folder}/{name}", f"{folder}/{name}.st"
        output("braidc", graph, "-o", binary, f"--optimizer={name}", "--weight-decay=0.1")
        output(binary, "run", "--program", "train", "--outputs", tensors)
        passes = ("tg-make-programs,tg-differentiate{function=train},"
                  f"tg-apply-optimizer{{optimizer={name} hyperparameters=weight_decay=0.1}}")
        found = output("braid-interp", graph, "--function=train", f"--inputs={tensors}", f"--expect={tensors}",
                       f"--pipeline-before={passes}")
        print(f"{name}: {found.strip().removeprefix(chr(39) + 'train' + chr(39) + ': ')}")


if __name__ == "__main__":
    main()
