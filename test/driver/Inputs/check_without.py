#!/usr/bin/env python3
"""check_without.py [--each] GRAPH FOLDER OPTIONS...: leaves out each optional pass, one at a time.

Each of OPTIONS is a command line of braidc. A pass is left out under the first that runs it, with --each under every one;
the pipeline then lacks it, and a step in the interpreter has the gradients of the whole pipeline, tensor by tensor, from
weights whose attention is peaked. Without --each, every pass that the help lists must run under one of them.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence import checkpoints  # noqa: E402  (found in that folder)
from equivalence.differences import TOLERANCE, TOLERANCE_BF16, peak, worst_error  # noqa: E402


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ends with {done.returncode}:\n{done.stderr}")
    return done.stdout


def optional_passes():
    row = re.search(r"^  --without=PASS\b.*?(?=^  -|^\S)", run("braidc", "--help"), re.M | re.S)
    return re.findall(r"^ +- ([\w-]+):", row[0], re.M)


def passes_of(graph, options):
    return re.findall(r"[\w-]+", run("braidc", graph, "--emit=memory", "--print-pipeline", *options))


def gradients(graph, folder, options):
    """Parameters and states after a step, of which first moments tell of gradients."""
    module, found = folder / "module.mlir", folder / "found.safetensors"
    run("braidc", graph, "--emit=memory", "-o", module, *options)
    run("braid-interp", module, "--function=train", "--init", "--seed=1", "--set", "lr=0.1", "--steps=1", f"--outputs={found}")
    return checkpoints.read_checkpoint(found)


def main():
    words = sys.argv[1:]
    each = words[0] == "--each"
    graph, folder, *lines = words[each:]
    folder = pathlib.Path(folder)
    peak(graph)
    optional, count, problems = optional_passes(), 0, 0
    left = list(optional)
    for options in map(str.split, lines):
        tolerance = TOLERANCE_BF16 if "--precision=bf16" in options else TOLERANCE
        here = [name for name in (optional if each else left) if name in passes_of(graph, options)]
        left = [name for name in left if name not in here]
        expected = gradients(graph, folder, options)
        for name in here:
            without = [*options, f"--without={name}"]
            runs = name in passes_of(graph, without)
            error, name_of_worst = worst_error(gradients(graph, folder, without), expected)
            if runs or not error <= tolerance:
                problems += 1
                print(f"{' '.join(without)}: the pass {'runs' if runs else 'is left out'}, {name_of_worst} is off by {error:.1e}")
            count += 1
    for name in [] if each else left:
        problems += 1
        print(f"{name} runs under none of the options")
    print(f"{count} passes left out, {problems} problems")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
