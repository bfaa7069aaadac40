#!/usr/bin/env python3
"""interrupt.py [--signal=NAME] [--child=PROGRAM] METRICS STEPS COMMAND...

Runs the command until METRICS has as many lines as STEPS, then interrupts it as
Ctrl-C does, or by another signal, and exits with its status.  With --child, the
signal goes to the newest of its children that runs PROGRAM."""

import argparse
import os
import signal
import subprocess
import sys
import time

from start_ranks import lines


def newest_child(parent, program):
    children = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent and os.readlink(f"/proc/{name}/exe") == program:
                children.append(int(name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return max(children)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--signal", default="SIGINT")
    parser.add_argument("--child")
    parser.add_argument("metrics")
    parser.add_argument("steps", type=int)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if os.path.exists(options.metrics):
        os.remove(options.metrics)
    process = subprocess.Popen(options.command)
    deadline = time.monotonic() + 60
    while lines(options.metrics) < options.steps:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            sys.exit(f"ended with {process.returncode} after {lines(options.metrics)} lines")
        time.sleep(0.01)
    target = newest_child(process.pid, options.child) if options.child else process.pid
    os.kill(target, getattr(signal, options.signal))
    sys.exit(process.wait(timeout=60))


if __name__ == "__main__":
    main()
