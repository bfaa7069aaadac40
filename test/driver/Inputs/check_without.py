#!/usr/bin/env python3
"""check_without.py [--each] GRAPH FOLDER OPTIONS...: leaves out each optional pass, one at a time.

Each of OPTIONS is a command line of braidc. A pass is left out under the first that runs it, with --each under every one;
the pipeline then lacks it, and two steps in the interpreter have the losses of the whole pipeline. Without --each, every
pass that the help lists must run under one of them.
"""

import json
import pathlib
import re
import subprocess
import sys


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


def losses(graph, folder, options):
    module, log = folder / "module.mlir", folder / "log.jsonl"
    run("braidc", graph, "--emit=memory", "-o", module, *options)
    run("braid-interp", module, "--function=train", "--init", "--seed=1", "--set", "lr=0.1", "--steps=2", f"--log={log}")
    return [json.loads(line)["loss"] for line in log.read_text().splitlines()]


def main():
    words = sys.argv[1:]
    each = words[0] == "--each"
    graph, folder, *lines = words[each:]
    folder = pathlib.Path(folder)
    optional, count, problems = optional_passes(), 0, 0
    left = list(optional)
    for options in map(str.split, lines):
        tolerance = 1e-2 if "--precision=bf16" in options else 1e-5
        here = [name for name in (optional if each else left) if name in passes_of(graph, options)]
        left = [name for name in left if name not in here]
        expected = losses(graph, folder, options)
        for name in here:
            without = [*options, f"--without={name}"]
            runs = name in passes_of(graph, without)
            found = losses(graph, folder, without)
            same = all(abs(one - other) <= tolerance * abs(other) for one, other in zip(found, expected, strict=True))
            if runs or not same:
                problems += 1
                print(f"{' '.join(without)}: the pass {'runs' if runs else 'is left out'}, losses {found}, with it {expected}")
            count += 1
    for name in [] if each else left:
        problems += 1
        print(f"{name} runs under none of the options")
    print(f"{count} passes left out, {problems} problems")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
