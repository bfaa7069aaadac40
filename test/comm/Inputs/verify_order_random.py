#!/usr/bin/env python3
"""comm-verify-order against the interpreter: on random programs of stages, in an
order that is now and then disturbed, the one refuses what the other cannot run.

usage: verify_order_random.py CASES [FIRST SEED]
"""

import random
import subprocess
import sys
import tempfile


class Stage:
    """Returns the function of a stage: collectives as text, some of them with a separate start and wait."""

    def __init__(self, number):
        self.number = number
        self.actions = []  # (text, result types)

    def add(self, text, received):
        self.actions.append((text, received))

    def write(self, rng):
        lines, tickets = [], []

        def wait(ticket):
            tickets.remove(ticket)
            number, types = ticket
            values = f"%w{number} = " if types else ""
            arrow = f" -> {types}" if types else ""
            lines.append(f"  {values}comm.wait %t{number} : !comm.ticket<{types}>{arrow}")

        for number, (text, types) in enumerate(self.actions):
            value = f"%v{number} = " if types else ""
            if rng.random() < 0.5:
                lines.append(f"  {value}{text}")
                continue
            lines.append(f"  %t{number} = comm.start {{\n    {value}{text}\n  }} : !comm.ticket<{types}>")
            tickets.append((number, types))
            while tickets and rng.random() < 0.5:
                wait(rng.choice(tickets))
        while tickets:
            wait(rng.choice(tickets))
        return "\n".join([
            f"func.func @stage{self.number}() attributes {{comm.program = #comm.program<@mesh, pp = [{self.number}]>}} {{",
            "  %x = arith.constant dense<1.0> : tensor<2xf32>", "  %y = arith.constant dense<1.0> : tensor<3xf32>",
            *lines, "  return", "}"])


def communicate(rng, stages):
    """Adds a communication between some stages to each of them."""
    t = "tensor<2xf32>"
    kind = rng.choice(["all", "inside", "pair", "pair", "root"])
    if kind == "pair":
        a, b = rng.sample(stages, 2)
        a.add(f"comm.send %x to {b.number} over @mesh {{pp}} : ({t}) -> ()", "")
        b.add(f"comm.recv from {a.number} over @mesh {{pp}} : () -> {t}", t)
    elif kind == "inside":
        rng.choice(stages).add(f"comm.all_reduce sum %x over @mesh {{dp}} : ({t}) -> {t}", t)
    elif kind == "root":
        root = rng.choice(stages)
        for stage in stages:
            sent, types = (" %x", t) if stage is root else ("", "")
            stage.add(f"comm.broadcast{sent} root {root.number} over @mesh {{pp}} : ({types}) -> {t}", t)
    else:
        axes = rng.choice(["{pp}", "{pp, dp}", "{dp, pp}"])
        for stage in stages:
            value, own = ("%y", "tensor<3xf32>") if rng.random() < 0.02 else ("%x", t)
            stage.add(f"comm.all_reduce sum {value} over @mesh {axes} : ({own}) -> {own}", own)


def program(rng):
    count, data = rng.choice([2, 3]), rng.choice([1, 2])
    stages = [Stage(number) for number in range(count)]
    for _ in range(rng.randint(1, 6)):
        communicate(rng, stages)
    for stage in stages:
        actions = stage.actions
        if len(actions) > 1 and rng.random() < 0.2:
            i = rng.randrange(len(actions) - 1)
            actions[i], actions[i + 1] = actions[i + 1], actions[i]
        if actions and rng.random() < 0.08:
            actions.pop(rng.randrange(len(actions)))
    mesh = f"comm.mesh @mesh [pp = {count}, dp = {data}]"
    return "\n".join([mesh] + [stage.write(rng) for stage in stages]) + "\n"


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stderr


def main():
    cases = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    accepted = 0
    for seed in range(first, first + cases):
        text = program(random.Random(seed))
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            verified, why = run("braid-opt", "--comm-verify-order", file.name)
            ran, error = run("braid-interp", file.name)
        accepted += verified == 0
        known = "deadlocks: " in why or "is not the same collective" in why
        if (verified == 0) != (ran == 0) or (verified != 0 and not known):
            print(f"seed {seed}: the pass says {verified}\n{why}\nthe interpreter {ran}\n{error}\nof\n{text}")
            return 1
    print(f"{cases} programs from seed {first}: {accepted} accepted, {cases - accepted} refused, as by the interpreter")
    return 0


if __name__ == "__main__":
    sys.exit(main())
