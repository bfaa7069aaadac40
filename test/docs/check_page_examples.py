#!/usr/bin/env python3
"""Runs the examples of a page: check_page_examples.py PAGE.md

Behind `<!-- input -->` stands a block of IR; behind `<!-- braid-opt PASSES -->` what
the passes make of the last input. Both are compared as braid-opt prints them.
"""

import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"<!-- (input|braid-opt ([^\n]*)) -->\n```mlir\n(.*?)```", re.S)


def opt(text, *passes):
    run = subprocess.run(["braid-opt", *passes], input=text, capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else f"braid-opt fails:\n{run.stderr}"


def main():
    source, examples, failures = None, 0, 0
    for kind, passes, text in BLOCK.findall(pathlib.Path(sys.argv[1]).read_text()):
        if kind == "input":
            source = text
            continue
        examples += 1
        actual, expected = opt(source, *passes.split()), opt(text)
        if actual != expected:
            failures += 1
            print(f"{passes} prints\n{actual}\nbut the page says\n{expected}")
    print(f"{examples} example(s), {failures} wrong")
    return failures > 0 or examples == 0


if __name__ == "__main__":
    sys.exit(main())
