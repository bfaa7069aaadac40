#!/usr/bin/env python3
"""Every pass and pipeline alone, in a process of its own, on modules that lack what it may
make: the dialects of that are not loaded by what was parsed.  A pass succeeds or says what it
misses.

usage: passes_alone.py MODULES.mlir
"""

import concurrent.futures
import re
import subprocess
import sys


def run(name):
    command = ["braid-opt", f"--{name}", "--split-input-file", "--allow-unregistered-dialect", sys.argv[1]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 1):
        return f"--{name} ends with {done.returncode}:\n{done.stderr[:2000]}"
    return f"--{name} fails and does not say why" if done.returncode and "error: " not in done.stderr else ""


def main():
    text = subprocess.run(["braid-opt", "--help"], capture_output=True, text=True, check=True).stdout
    section = text[text.index("Compiler passes to run"):]
    names = re.findall(r"^ {6}--([\w-]+)", section, re.M)
    assert len(names) > 50, names
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [problem for problem in pool.map(run, names) if problem]
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
