#!/usr/bin/env python3
"""What `gpu-check` measures of the matmuls of a program, as lines: measure_matmuls.py PROGRAM DATA"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))

from gpu_check import matmuls  # noqa: E402  (found beside the tests)

binary, data = sys.argv[1:]
with tempfile.TemporaryDirectory() as scratch:
    its = matmuls.measure({"name": "program"}, binary, pathlib.Path(scratch),
                           [binary, "train", "--data", data, "--threads", 1])
print(f"{its['candidates']} candidates of {its['products']} matmuls, {its['not_timed']} not timed: "
      f"{its['share_of_best_least']:.2f} of the best by least times, {its['share_of_best_median']:.2f} by medians, "
      f"{its['below_target']} below {matmuls.TARGET}")
for matmul in its["step_products"]:
    print(f"{matmul['product']}: {matmul['calls']} x {matmul['first_seconds'] * 1e6:.1f} us, "
          f"the best {matmul['best_seconds'] * 1e6:.1f} us")
print(f"in a step {its['in_step_seconds_first'] * 1e6:.0f} us, by the best {its['in_step_seconds_best'] * 1e6:.0f} us")
