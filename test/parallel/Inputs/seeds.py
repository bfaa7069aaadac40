"""Runs the random program of each of some seeds, and prints those that fail.

    SCRIPT FIRST END     seeds FIRST to END - 1; prints the failures
    SCRIPT --show SEED   prints the program of a seed and its commands
"""

import subprocess
import sys


def agrees(run):
    return run.returncode == 0 and "agree" in run.stdout


def main(make, commands, what="steps", passes=agrees, counted="", count=lambda run: 0,
         suffices=lambda total, seeds: True):
    """`make(seed)` has a `text()`, which each of `commands(it)` reads; a run `passes` or is a failure.
    The sum of `count(run)` is printed as that many `counted`, and must suffice for so many seeds."""
    if sys.argv[1] == "--show":
        program = make(int(sys.argv[2]))
        print(program.text(), end="")
        print("\n".join("// " + " ".join(command) for command in commands(program)))
        return 0
    first, end = int(sys.argv[1]), int(sys.argv[2])
    runs = failures = total = 0
    for seed in range(first, end):
        program = make(seed)
        text = program.text()  # asking again may draw another
        for command in commands(program):
            run = subprocess.run(command, input=text, capture_output=True, text=True)
            runs += 1
            total += count(run)
            if not passes(run):
                failures += 1
                print(f"seed {seed}: {' '.join(command)}\n{run.stdout}{run.stderr[-2000:]}\n{text}")
    summary = f"{failures} of {runs} {what} differ (seeds {first} to {end - 1})"
    print(f"{summary}; {total} {counted}" if counted else summary)
    return failures > 0 or not suffices(total, end - first)
