#!/usr/bin/env python3
"""A memory limit is kept, or refused with one that can be kept.

memory_limits.py GRAPH --work FOLDER [--limits N] [-- BRAIDC OPTIONS]

Compiles without a limit and with one that nothing keeps, whose error names the smallest that it could be; that one
must then be kept, and so must N - 1 more up to the arena without a limit. Prints a line for each: the arena, and
the predicted time of a step over that without a limit.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

IMPOSSIBLE = 1


def compiled(args, *options):
    """Arena and predicted seconds, or the limit that a refusal names; and what was said."""
    report = args.work / "plan.json"
    done = subprocess.run(["braidc", args.graph, "--emit=memory", "-o", args.work / "plan.mlir", f"--report={report}",
                           *args.options, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        plan = json.loads(report.read_text())
        return plan["arena_bytes"], plan["predicted_step_s"], done.stderr
    named = re.search(r"the plan needs .*?\((\d+) bytes\)", done.stderr)
    if not named:
        sys.exit(f"braidc {' '.join(args.options + list(options))} failed:\n{done.stderr}")
    return int(named[1]), None, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--limits", type=int, default=8)
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:end])
    args.options = words[end + 1:]
    args.work.mkdir(parents=True, exist_ok=True)
    largest, seconds, said = compiled(args)
    least, refused, _ = compiled(args, f"--memory-limit={IMPOSSIBLE}")
    assert refused is None and least < largest, (least, largest)
    for number in range(args.limits):
        limit = least + (largest - least) * number // (args.limits - 1)
        arena, predicted, said = compiled(args, f"--memory-limit={limit}")
        if predicted is None:
            sys.exit(f"a limit of {limit} bytes is refused, for {arena}; an impossible one was refused for {least}:\n{said}")
        assert arena <= limit, (arena, limit)
        slower = predicted > seconds * (1 + 1e-9)
        assert not slower or "predicted time" in said, f"nothing was said of {predicted} s for {seconds} s:\n{said}"
        print(f"{limit} bytes: arena {arena}, {predicted / seconds:.4f} of the time")
    print(f"{args.limits} limits from {least} to {largest} bytes kept")


if __name__ == "__main__":
    main()
