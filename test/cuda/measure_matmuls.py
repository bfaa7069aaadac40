#!/usr/bin/env python3
"""What `gpu-visit` measures of the matmuls of a program, as lines: measure_matmuls.py PROGRAM DATA"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))

from gpu_visit import matmuls  # noqa: E402  (found beside the tests)

binary, data = sys.argv[1:]
with tempfile.TemporaryDirectory() as scratch:
    profile, plan = (pathlib.Path(scratch) / name for name in ("profile.json", "plan.json"))
    subprocess.run([binary, "train", "--data", data, "--threads", "1", "--steps", "4", f"--profile={profile}", "--matmul-search=16",
                    f"--matmul-plan={plan}"], check=True, stdout=subprocess.DEVNULL)
    its = matmuls.figures(json.loads(profile.read_text()))
print(f"{its['products']} matmuls, {its['not_timed']} not timed: {its['share_of_best_least']:.2f} of the best by least times, "
      f"{its['share_of_best_median']:.2f} by medians, {its['below_target']} below {matmuls.TARGET}")
for matmul in its["step_products"]:
    print(f"{matmul['product']}: {matmul['calls']} x {matmul['first_seconds'] * 1e6:.1f} us, "
          f"the best {matmul['best_seconds'] * 1e6:.1f} us")
