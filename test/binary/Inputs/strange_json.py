"""Writes JSON that is valid, or nearly, and that no reader expects: strange_json.py FOLDER."""

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def nested(depth):
    return '{"text": ' + "[" * depth + "]" * depth + "}\n"


TEXTS = {
    "surrogate.jsonl": '{"text": "whole"}\n{"text": "a \\ud83d b"}\n',
    "key.jsonl": '{"\\uDE00": 1}\n',
    "deep.jsonl": nested(3000),
    "deeper.jsonl": nested(200000),
    "digits.jsonl": '{"step": ' + "9" * 5000 + "}\n",
    "good.jsonl": '{"text": "\\ud83d\\ude00"}\n' + '{"a": [' + ", ".join(["[]"] * 400) + "]}\n" + '{"[": "' + "[{" * 300 + '\\""}\n',
    "whole.json": nested(3000),
}
for name, text in TEXTS.items():
    (folder / name).write_text(text)
