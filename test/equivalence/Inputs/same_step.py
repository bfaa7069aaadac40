#!/usr/bin/env python3
"""same_step.py GRAPH.mlir [OPTION of braidc]...

Compares a training step as braidc plans it, in memory and on all ranks, with the step of the graph
itself on one rank: the loss and every parameter behind plain SGD, from weights whose attention is
peaked (the interpreter draws them from a normal distribution), with targets that are ignored.
"""

import pathlib
import subprocess
import sys
import tempfile

REFERENCE = "tg-make-programs,tg-differentiate{function=train},tg-apply-optimizer{optimizer=sgd}"


class Difference(Exception):
    """What differs, or which tool failed."""


class Refusal(Exception):
    """The error of braidc."""


def run(*command, limit=300):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit)


def same_step(graph, options, tolerance=2e-5):
    """The agreement as the interpreter says it."""
    plan = run("braidc", graph, "--optimizer=sgd", *options, "--print-pipeline")
    if plan.returncode:
        raise Refusal(plan.stderr)
    with tempfile.NamedTemporaryFile("w", suffix=".pipeline") as pipeline:
        pipeline.write(plan.stdout)
        pipeline.flush()
        done = run("braid-interp", graph, "--function=train", "--compare", f"--rtol={tolerance}", "--ignored-share=0.3",
                   f"--pipeline=@{pipeline.name}", f"--reference-pipeline={REFERENCE}")
    if done.returncode:
        raise Difference(done.stdout + done.stderr)
    return done.stdout


def main():
    graph, options = pathlib.Path(sys.argv[1]), sys.argv[2:]
    try:
        print(same_step(graph, options), end="")
    except (Difference, Refusal) as error:
        sys.exit(f"{graph} {' '.join(options)}: {error}")


if __name__ == "__main__":
    main()
