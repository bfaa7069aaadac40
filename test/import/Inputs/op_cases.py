"""Compares ops of an imported program with its framework, case by case, for compare_ops.py and compare_jax_ops.py.

The command line of both is `BIN [NAME...]`: the folder of the tools, and the cases, by default all.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(tool, *words):
    """Runs a tool, and returns its output."""
    done = subprocess.run([str(Path(sys.argv[1]) / tool), *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{tool}: {done.stderr.strip()[:400]}")
    return done.stdout


def error_of(got, want):
    """Returns the largest error relative to the largest number, of tensors of PyTorch or arrays of NumPy."""
    if tuple(got.shape) != tuple(want.shape):
        return float("inf")
    if 0 in want.shape:
        return 0.0
    error = float(abs(got - want).max()) / max(float(abs(want).max()), 1e-3)
    return error if error == error else float("inf")  # NaN would hide behind another error


def differentiate(graph, folder):
    """Runs a graph and its gradients with the values of FOLDER/in.safetensors. Returns the path of the results."""
    results = folder / "out.safetensors"
    run("braid-interp", graph, "--function=model", "--inputs", folder / "in.safetensors", "--outputs", results,
        "--pipeline-before=tg-differentiate{function=model}")
    return results


def main(cases, compare, tolerance, framework, source="pytorch", without_case=None):
    """Compares cases by `compare(name, folder)`, which returns the ops of a case and the largest error.

    With `without_case`, the ops of the table that need no case, every other op of the table must be in a case.
    """
    names, seen, failures = sys.argv[2:] or list(cases), set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                ops, error = compare(name, Path(folder))
            except Exception as problem:  # a case that cannot be imported is a failure, and others follow
                print(f"{name}: {problem}")
                failures += 1
                continue
            seen |= ops
            if not error <= tolerance:
                print(f"{name}: error {error:.2g} exceeds {tolerance}")
                failures += 1
    if without_case is not None and not sys.argv[2:]:
        table = set(re.findall(r"^\| `(\S+)` \|", run("braid-import", "--ops", f"--from={source}"), re.M))
        missing = sorted(table - seen - without_case)
        print("".join(f"{op}: no case has it\n" for op in missing), end="")
        failures += len(missing)
        seen &= table
    print(f"{len(names)} cases, {failures} failures, {len(seen)} ops, {framework}")
    sys.exit(failures != 0)
