#!/usr/bin/env python3
"""A signal while braidc compiles: what it started has ended, what it wrote for itself is gone,
and what was there before is as it was.  One that is ignored, as nohup has it,
stays so.

usage: interrupt.py FOLDER GRAPH
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

COMPILER = """#!/bin/sh
touch "$TMPDIR/left-by-a-compiler"
sleep 1000 &
echo $! >> {folder}/children
wait
"""


def wait_for(condition, what):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit(f"{what}, and not after 20 s")


def is_gone(pid):
    try:
        return (pathlib.Path("/proc") / pid / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handle(ignored):
    """In the child, before it becomes braidc: whoever started this may ignore some."""
    for which in SIGNALS:
        signal.signal(which, signal.SIG_IGN if which in ignored else signal.SIG_DFL)


def interrupt(folder, graph, which, ignored=()):
    shutil.rmtree(folder, ignore_errors=True)
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    compiler, children, out = folder / "c++", folder / "children", folder / "out"
    compiler.write_text(COMPILER.format(folder=folder))
    compiler.chmod(0o755)
    out.write_text("precious")
    before = sorted(os.listdir(folder))
    braidc = subprocess.Popen(["braidc", graph, "-o", out, f"--cc={compiler}"],
                              env=os.environ | {"TMPDIR": str(scratch)},
                              preexec_fn=lambda: handle(ignored), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: children.exists() and len(children.read_text().split()) == 2, "both compilers run")
    for other in ignored:
        braidc.send_signal(other)
    braidc.send_signal(which)
    said = braidc.communicate(timeout=20)[1]
    problems = []
    if braidc.returncode != -which:
        problems.append(f"it ended with {braidc.returncode}, and said: {said}")
    for pid in children.read_text().split():
        wait_for(lambda: is_gone(pid), "the compiler's child ends")
    children.unlink()
    if left := sorted(os.listdir(folder)) != before or os.listdir(scratch):
        problems.append(f"it left {left} beside the output, and {os.listdir(scratch)} in its folder")
    if out.read_text() != "precious":
        problems.append("the output has changed")
    return [f"{which.name}: {problem}" for problem in problems]


def main():
    folder, graph = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    problems = [problem for which in SIGNALS for problem in interrupt(folder, graph, which)]
    problems += interrupt(folder, graph, signal.SIGTERM, ignored=[signal.SIGHUP])
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
