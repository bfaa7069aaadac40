#!/usr/bin/env python3
"""drift.py F32.jsonl BF16.jsonl AGAIN.jsonl...

How far losses in bf16 are from those in f32, without recomputation and with it. That of a run that computes values
again is the same to the bit, or at most twice as far from f32 as the one that keeps them.
"""
import json
import pathlib
import sys


def losses(path):
    return [line["loss"] for line in map(json.loads, pathlib.Path(path).read_text().splitlines()) if "loss" in line]


wide, kept, *others = map(losses, sys.argv[1:])
drift = lambda run: max(abs(a - b) / b for a, b in zip(run, wide, strict=True))
print(f"{len(wide)} steps, kept: {drift(kept):.1e} from f32")
for path, run in zip(sys.argv[3:], others):
    apart = max(abs(a - b) / b for a, b in zip(run, kept, strict=True))
    print(f"{pathlib.Path(path).stem}: {'the same bits' if run == kept else f'{apart:.1e} from what keeps'}, {drift(run):.1e} from f32")
    if run != kept and drift(run) > 2 * drift(kept):
        sys.exit("recomputation loses precision")
