#!/usr/bin/env python3
"""Runs the example of every pass in a Passes.td and what it includes: the IR under
"Input:" through the pass must print like the IR under "Output:".  The options of an
example stand in backquotes after the word, as in "Input (`at=y`):".  A pass without
an example, or whose output is not what the manual says, is a failure.

A pass that only checks says "Leaves:" instead: the IR passes unchanged.
"""

import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^include "(passes/[^"]*)"', re.M)
PASS = re.compile(r'^def \w+ : \w*Pass<"([\w-]+)"(.*?)^}', re.S | re.M)
BLOCK = r"\s*```mlir\n(.*?)```"
EXAMPLE = re.compile(r"Input(?: \(`([^`]*)`\))?:" + BLOCK + r"\s*Output:" + BLOCK, re.S)
LEAVES = re.compile(r"Leaves(?: \(`([^`]*)`\))?:" + BLOCK, re.S)


def manual(path, root):
    """Returns the text of a file and of the files that it includes from `root`."""
    text = path.read_text()
    return text + "".join(manual(root / name, root) for name in INCLUDE.findall(text))


def opt(text, *arguments):
    run = subprocess.run(["braid-opt", *arguments], input=text, capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None, run.stderr


def check(name, options, before, after):
    """Returns the fault of an example, or nothing."""
    expected, error = opt(after)
    if expected is None:
        return f"the output does not parse:\n{error}"
    # Examples are text without facts, which some passes need.
    actual, error = opt(before, "--tg-derive-facts", f"--{name}={options}" if options else f"--{name}")
    if actual is None:
        return f"the input does not parse, or the pass fails on it:\n{error}"
    if actual != expected:
        return f"the pass prints\n{actual}\nbut the manual says\n{expected}"
    return None


def main():
    failures = 0
    root = pathlib.Path(__file__).parents[2]
    for path in map(pathlib.Path, sys.argv[1:]):
        for name, body in PASS.findall(manual(path, root)):
            examples = EXAMPLE.findall(body)
            examples += [(options, ir, ir) for options, ir in LEAVES.findall(body)]
            problems = [check(name, *example) for example in examples] or ["there is no example"]
            for problem in filter(None, problems):
                failures += 1
                print(f"{name}: {problem}")
            print(f"{name}: {len(examples)} example(s)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
