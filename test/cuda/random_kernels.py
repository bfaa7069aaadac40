#!/usr/bin/env python3
"""random_kernels.py SEED... --work FOLDER [--sizes SIZE...]

Random training graphs, their kernels fused and run on the shim: losses and all gradients (as updates of plain
gradient descent) must equal the interpreter's.  With --sizes, every dim has one of these.
"""
import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def steps(seed, work, sizes):
    graph, programs, folder, tensors = work / "graph.mlir", work / "programs.mlir", work / "cuda", work / "outputs"
    options = ["--optimizer=sgd", "--target=cuda:sm_90"]
    yield [sys.executable, HERE.parent / "codegen" / "Inputs" / "random_graph.py", str(seed), *sizes], graph
    yield ["braidc", graph, *options, "--emit=tg", "-o", programs], None
    yield ["braidc", graph, *options, "--emit=cu", "-o", folder], None
    yield [sys.executable, HERE / "shim_build.py", folder, "-o", work / "shim"], None
    yield [work / "shim", "run", "--program", "train", "--outputs", tensors], None
    yield ["braid-interp", programs, "--function=train", f"--inputs={tensors}", f"--expect={tensors}", "--rtol=1e-3"], None


def check(seed, work, sizes):
    for command, output in steps(seed, work, sizes):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        if done.returncode:
            return f"{' '.join(map(str, command))[:200]} ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}"
        if output:
            output.write_text(done.stdout)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="+", type=int)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--sizes", nargs="+", default=[])
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    failed = 0
    for seed in args.seeds:
        problem = check(seed, args.work, args.sizes)
        print(f"graph {seed}: {problem or 'equal'}", flush=True)
        failed += problem is not None
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
