#!/usr/bin/env python3
"""interrupt.py METRICS STEPS COMMAND...

Runs the command until METRICS has as many lines as STEPS, then interrupts it as
Ctrl-C does, and exits with its status."""

import os
import signal
import subprocess
import sys
import time


def lines(path):
    try:
        with open(path) as file:
            return sum(1 for _ in file)
    except FileNotFoundError:
        return 0


def main():
    path, steps, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    if os.path.exists(path):
        os.remove(path)
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while lines(path) < steps:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            sys.exit(f"ended with {process.returncode} after {lines(path)} lines")
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    sys.exit(process.wait(timeout=60))


if __name__ == "__main__":
    main()
