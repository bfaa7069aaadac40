"""predictions.py data FILE ROWS | large FILE ROWS ROW | check CHECKPOINT DATA PREDICTIONS

`data` writes ROWS rows of `x` in bytes, without targets; `large` integers of 64 bits, with a number in ROW that f32 has not.
`check` computes the perceptron of examples/mlp-by-hand
on each row of DATA from the weights of CHECKPOINT and compares."""

import array
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.safetensors_file import read, write


def numbers(entry, code):
    return array.array(code, entry[2])


def perceptron(weights, x):
    def gelu(v):
        return 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v ** 3)))

    w0, b0, w1, b1 = (numbers(weights[name], "f") for name in ("hidden.weight", "hidden.bias", "out.weight", "out.bias"))
    return sum(w * gelu(a * x + b) for w, a, b in zip(w1, w0, b0)) + b1[0]


def main():
    if sys.argv[1] == "data":
        rows = int(sys.argv[3])
        write(pathlib.Path(sys.argv[2]), {"x": ("U8", [rows, 1], bytes(row % 5 for row in range(rows)))})
        return
    if sys.argv[1] == "large":
        rows = int(sys.argv[3])
        x = array.array("q", range(rows))
        x[int(sys.argv[4])] = (1 << 53) + 1
        write(pathlib.Path(sys.argv[2]), {"x": ("I64", [rows, 1], x.tobytes()), "t": ("F32", [rows, 1], bytes(4 * rows))})
        return
    weights, data, predicted = (read(pathlib.Path(path)) for path in sys.argv[2:5])
    x = list(data["x"][2])
    if list(predicted) != ["prediction"] or predicted["prediction"][:2] != ("F32", [len(x), 1]):
        sys.exit(f"predicted {[(name, entry[:2]) for name, entry in predicted.items()]} of {len(x)} rows")
    found = numbers(predicted["prediction"], "f")
    worst = max(abs(y - perceptron(weights, value)) for y, value in zip(found, x))
    if not worst < 1e-5:
        sys.exit(f"a prediction is wrong by {worst}")
    print(f"{len(x)} rows are right")


main()
