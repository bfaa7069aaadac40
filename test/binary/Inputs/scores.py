"""scores.py TEXT PREDICTIONS LENGTH: the mean cross entropy of `scores` for the bytes behind those of each window, and the
number of targets."""

import array
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from equivalence.safetensors_file import read

text, length = pathlib.Path(sys.argv[1]).read_bytes(), int(sys.argv[3])
predicted = read(pathlib.Path(sys.argv[2]))
kind, (rows, positions, vocabulary), data = predicted["scores"]
assert list(predicted) == ["scores"] and kind == "F32" and positions == length, [entry[:2] for entry in predicted.values()]
numbers, loss, count = array.array("f", data), 0, 0
for place, target in enumerate(text[1:rows * length + 1]):
    scores = numbers[place * vocabulary:(place + 1) * vocabulary]
    most = max(scores)
    loss += most + math.log(sum(math.exp(score - most) for score in scores)) - scores[target]
    count += 1
print(f"{rows} rows, {count} targets, loss {loss / count:.4f}")
