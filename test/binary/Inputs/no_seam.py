"""A text whose tokens depend on how many characters are in front of them, in pieces: no window goes on as another."""

import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
from tokenization import seams  # noqa: E402

seams.OVERLAP, seams.MAX_WHOLE = 8, 120
lengths = []


def encode(text):
    lengths.append(len(text))
    ids = [len(text)] * len(text)  # of the whole text
    return types.SimpleNamespace(ids=ids, offsets=[(at, at + 1) for at in range(len(text))])


try:
    list(seams.ids_of(["a" * 20] * 1000, encode, "'file'"))
except seams.Failure as error:
    print(error)
whole = [length for length in lengths if length % 20 == 0]
print(len(set(whole)), "texts,", max(whole), "characters at most")
