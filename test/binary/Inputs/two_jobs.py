#!/usr/bin/env python3
"""two_jobs.py METRICS DIRECTORY COMMAND...

Runs the command until METRICS has three lines, then once more with --resume beside it,
and prints what that said.  The first is killed then, and a third goes on from what it
has saved, for ten steps more."""

import os
import signal
import subprocess
import sys
import time

from start_ranks import lines


def main():
    metrics, directory, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    first = subprocess.Popen(command + ["--log", metrics], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while (lines(metrics) < 3 or not any(name.startswith("step-") and not name.endswith(".tmp") for name in os.listdir(directory))) \
                and time.monotonic() < deadline:
            time.sleep(0.01)
        second = subprocess.run(command + ["--resume"], capture_output=True, text=True, timeout=60)
        print(f"second: status {second.returncode}\n{second.stdout}{second.stderr}", end="")
        print("first:", "runs" if first.poll() is None else first.returncode)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    with open(os.path.join(directory, ".lock")) as lock:
        print("the killed job had " + lock.read().split("job ")[1].split()[0], flush=True)
    last = lines(metrics) + 10
    command[command.index("--steps") + 1] = str(last)
    sys.exit(subprocess.run(command + ["--resume"], timeout=60).returncode)


if __name__ == "__main__":
    main()
