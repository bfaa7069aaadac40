#!/usr/bin/env python3
"""steady.py --steps=N [OPTIONS] COMMAND...

Runs a training job of one process that saves and evaluates again and again, and checks
that in its last third it has no more resident memory (but for --slack KiB), open
descriptors and threads than in its middle third.  Of the latter two the least that is seen
counts: files that a save has open for a moment are seen or not.  COMMAND is a training binary with
the options of `train` but --steps: a job that ends before it has been seen often enough is run
again with four times as many.

--slack=KIB      (default: 512)"""

import argparse
import collections
import os
import sys
import tempfile
import time

import jobs

Use = collections.namedtuple("Use", "memory descriptors threads")


def use_of(pid):
    with open(f"/proc/{pid}/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return Use(int(fields["VmRSS"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"]))


def watch(job):
    """What it uses from moment to moment, until it ends."""
    seen = []
    while pid := job.pid_of(0):
        try:
            seen.append(use_of(pid))
        except (OSError, KeyError):
            break  # it has ended
        time.sleep(0.02)
    return seen


def run(command, steps):
    """What a job of so many steps uses, which saves and evaluates some thirty times."""
    with tempfile.TemporaryDirectory() as folder:
        log, every = os.path.join(folder, "log"), str(max(steps // 30, 1))
        job = jobs.Job([*command, "--steps", str(steps), "--checkpoint", os.path.join(folder, "saved"), "--save-every", every,
                        "--eval-every", every, "--eval-batches", "1", "--log", log])
        seen = watch(job)
        status = job.wait(60)[0]
        if status or sorted(jobs.losses(log)) != list(range(1, steps + 1)):
            sys.exit(f"it ended with status {status} after {len(jobs.losses(log))} steps: {job.said(0)}")
    return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--slack", type=int, default=512)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    steps = options.steps
    seen = run(options.command, steps)
    while len(seen) < 45 and steps < 256 * options.steps:
        steps *= 4
        seen = run(options.command, steps)
    third = len(seen) // 3
    before, after = (Use(max(use.memory for use in part), *map(min, list(zip(*part))[1:]))
                     for part in (seen[third:2 * third], seen[2 * third:]))
    print(f"{steps} steps, seen {len(seen)} times: middle third {before}, last third {after}")
    sys.exit(after.memory > before.memory + options.slack or after[1:] > before[1:])


if __name__ == "__main__":
    main()
