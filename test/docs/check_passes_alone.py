#!/usr/bin/env python3
"""Runs every pass alone on the modules of other passes' examples: of every level, and of the wrong one.

  check_passes_alone.py [--share=N/M] Passes.td...

It also runs each pass on its own example without the attributes of one argument, result or op.  A pass
may do its work or refuse the module with a message.  A signal, or more than a minute, is a failure.
`--share` takes every M-th of these runs, from the N-th on.
"""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True

from check_pass_examples import EXAMPLE, LEAVES, PASS, manual  # noqa: E402  (found beside this file)


def examples_of(paths, root):
    """The passes with the options of their examples, and the modules of all examples."""
    passes, modules = [], []
    for path in paths:
        for name, body in PASS.findall(manual(path, root)):
            found = EXAMPLE.findall(body) + [(options, ir, ir) for options, ir in LEAVES.findall(body)]
            options = found[0][0] if found else ""
            passes.append(f"--{name}={options}" if options else f"--{name}")
            modules += [(name, ir) for _, before, after in found[:1] for ir in dict.fromkeys((before, after))]
    return list(dict.fromkeys(passes)), modules


ATTRIBUTES = re.compile(r" ?\{(?:tg|comm|exec)\.[^{}]*\}")


def stripped(ir):
    """The module without one of its dictionaries of attributes, for each of them."""
    return [ir[:found.start()] + ir[found.end():] for found in ATTRIBUTES.finditer(ir)]


def status(pass_argument, ir):
    try:
        return subprocess.run(["braid-opt", "--tg-derive-facts", pass_argument], input=ir, capture_output=True, text=True,
                              timeout=60).returncode
    except subprocess.TimeoutExpired:
        return "more than a minute"


def main():
    number, of = 0, 1
    paths = []
    for argument in sys.argv[1:]:
        if argument.startswith("--share="):
            number, of = map(int, argument[len("--share="):].split("/"))
        else:
            paths.append(pathlib.Path(argument))
    passes, modules = examples_of(paths, pathlib.Path(__file__).parents[2])
    pairs = [(argument, name, ir) for argument in passes for name, ir in modules]
    pairs += [(argument, name, each) for argument in passes for name, ir in modules
              if argument.split("=")[0] == f"--{name}" for each in stripped(ir)]
    pairs = pairs[number::of]
    failures = 0
    for argument, name, ir in pairs:
        outcome = status(argument, ir)
        if outcome not in (0, 1):
            failures += 1
            print(f"{argument} on the example of {name}: {outcome}\n{ir}")
    print(f"{len(pairs)} pairs of a pass and a module, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
