"""Compiles and links every example for CUDA, for each way to cut it and each precision.

usage: cuda_matrix.py <examples folder> <scratch folder> [name...]
"""
import itertools
import pathlib
import subprocess
import sys

examples, scratch = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
wanted = sys.argv[3:]
scratch.mkdir(parents=True, exist_ok=True)


def model(name, *words):
    path = scratch / f"{name}.mlir"
    subprocess.run(["braid-model", *words, "-o", str(path)], check=True)
    return path


GRAPHS = {
    "mlp": lambda: examples / "mlp-by-hand" / "mlp.mlir",
    "gpt-small": lambda: model("gpt-small", "--preset=gpt-small", "--batch", "4", "--seq", "32"),
    "llama-tiny": lambda: model("llama-tiny", str(examples / "llama-tiny" / "config.json"), "--batch", "4", "--seq", "32"),
    "gpt2-124m": lambda: model("gpt2-124m", str(examples / "gpt2-124m" / "config.json"), "--batch", "4", "--seq", "64"),
}
WAYS = {
    "one": [],
    "ddp": ["--mesh=dp=2"],
    "zero1": ["--mesh=dp=2", "--zero=1"],
    "zero2": ["--mesh=dp=2", "--zero=2"],
    "zero3": ["--mesh=dp=2", "--zero=3"],
    "hsdp": ["--mesh=replica=2,shard=2", "--zero=3"],
}
GPUS = itertools.cycle(["sm_80", "sm_90", "sm_90a", "sm_100"])

failed = []
for name, make in GRAPHS.items():
    if wanted and name not in wanted:
        continue
    graph = make()
    for (way, options), precision in itertools.product(WAYS.items(), ["f32", "bf16"]):
        binary = scratch / "train"
        gpu = next(GPUS)
        said = subprocess.run(["braidc", str(graph), f"--target=cuda:{gpu}", f"--precision={precision}", *options, "-o", str(binary)],
                              capture_output=True, text=True)
        if said.returncode == 0:
            said = subprocess.run([str(binary), "info"], capture_output=True, text=True)
        outcome = "ok" if said.returncode == 0 and not said.stderr else "FAILED"
        print(f"{name} {way} {precision} {gpu}: {outcome}", flush=True)
        if outcome != "ok":
            failed.append((name, way, precision))
            print(said.stderr, flush=True)
sys.exit(1 if failed else 0)
