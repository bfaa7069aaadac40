#!/usr/bin/env python3
"""bf16_curve.py FOLDER BATCH SEQUENCE STEPS

Trains the small GPT on text in f32 and in bf16.  Every step's loss in bf16 is within 1%
of that in f32."""

import json
import subprocess
import sys


def losses(folder, precision, steps):
    binary, log = f"{folder}/{precision}", f"{folder}/{precision}.jsonl"
    subprocess.run(["braidc", f"{folder}/gpt.mlir", f"--precision={precision}", "--clip=1.0", "-o", binary], check=True)
    options = ["--steps", steps, "--lr", "1e-3", "--warmup", "50", "--lr-schedule", "cosine", "--seed", "1", "--log", log, "--force"]
    subprocess.run([binary, "train", "--data", f"{folder}/text", *options], check=True, stdout=subprocess.DEVNULL)
    with open(log) as file:
        return [line["loss"] for line in map(json.loads, file) if "loss" in line]


def main():
    folder, batch, sequence, steps = sys.argv[1:]
    model = ["braid-model", "--preset=gpt-small", f"--batch={batch}", f"--seq={sequence}", "-o", f"{folder}/gpt.mlir"]
    subprocess.run(model, check=True)
    wide, narrow = (losses(folder, precision, steps) for precision in ("f32", "bf16"))
    worst = max(abs(a - b) / a for a, b in zip(wide, narrow, strict=True))
    print(f"from {wide[0]:.3f} to {wide[-1]:.3f} in f32, {narrow[-1]:.3f} in bf16: at most {worst:.2%} apart in {len(wide)} steps")
    if not worst <= 0.01 or not wide[-1] < wide[0]:
        sys.exit("the curves differ")


if __name__ == "__main__":
    main()
