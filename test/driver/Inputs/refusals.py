#!/usr/bin/env python3
"""refusals.py FOLDER Parallelism.md: each row of the table "What is refused" is still refused.

A combination for each row is given to braidc, whose error has the row's message, and runs without what the row is about."""

import json
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TESTS / "equivalence" / "Inputs"))
import listed_refusals  # noqa: E402  (found in that folder)

LLAMA = {"model_type": "llama", "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
         "num_key_value_heads": 2, "vocab_size": 32, "max_position_embeddings": 16}
# Of each row: a part of its message, the model, its batch and positions, and options that are refused and that are not.
ROWS = [
    ("the batch of", LLAMA, 6, 8, ["--mesh=dp=4"], ["--mesh=dp=3"]),
    ("the sequence of", LLAMA, 4, 6, ["--mesh=cp=4"], ["--mesh=cp=3"]),
    ("divides no weight", {**LLAMA, "hidden_size": 10, "intermediate_size": 25, "vocab_size": 35, "num_attention_heads": 1, "num_key_value_heads": 1}, 4, 8, ["--mesh=tp=3"], ["--mesh=tp=5"]),
    ("cannot share out heads", LLAMA, 6, 9, ["--mesh=cp=3", "--context=ulysses"], ["--mesh=cp=3", "--context=ring"]),
    ("cannot be computed in a ring", {**LLAMA, "attention_dropout": 0.1}, 4, 8, ["--mesh=cp=2", "--context=ring"], ["--mesh=cp=2", "--context=gather"]),
    ("not at both ends", LLAMA, 8, 8, ["--mesh=pp=8", "--accumulate=2"], ["--mesh=pp=2", "--accumulate=2"]),
    ("gradients are summed over microbatches", LLAMA, 8, 8, ["--mesh=pp=2,dp=2", "--zero=2", "--accumulate=2"],
     ["--mesh=pp=2,dp=2", "--zero=3", "--accumulate=2"]),
    ("but the batch is sharded over", LLAMA, 4, 8, ["--mesh=dp=2,tp=2", "--sequence-parallel", "--noise-scale"],
     ["--mesh=dp=2,tp=2", "--noise-scale"]),
]
# Parts of those that another test expects.
ELSEWHERE = ["does not divide into … microbatches", "interleaved on", "sends tokens to", "is above the",
             "only a ring can be in zigzag", "cannot be in zigzag", "which --loss-chunk asks for", "--collectives=hierarchical",
             "with --overlap=none"]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    messages = listed_refusals.rows(sys.argv[2])
    examples = [*(part for part, *_ in ROWS), *ELSEWHERE]
    failures = [f"the table has the row '{message}', of which there is no example" for message in messages
                if not any(part in message for part in examples)]
    expected = "\n".join(path.read_text() for kind in ("*.test", "*.mlir") for path in TESTS.rglob(kind))
    failures += [f"no test expects '{message}'" for message in messages
                 if any(part in message for part in ELSEWHERE) and not re.search(listed_refusals.pattern(message), expected)]
    for part, config, batch, positions, refused, accepted in ROWS:
        message = next((message for message in messages if part in message), None)
        if not message:
            failures.append(f"the table has no row with '{part}'")
            continue
        (folder / "config.json").write_text(json.dumps(config))
        made = run("braid-model", folder / "config.json", f"--batch={batch}", f"--seq={positions}", "-o", folder / "g.mlir")
        if made.returncode:
            sys.exit(made.stderr)
        said = run("braidc", folder / "g.mlir", *refused, "--emit=memory", "-o", folder / "out.mlir")
        if not said.returncode or not re.search(listed_refusals.pattern(message), said.stderr):
            failures.append(f"{' '.join(refused)} is not refused with '{message}': {said.stderr}")
        plan = run("braidc", folder / "g.mlir", *accepted, "--emit=memory", "-o", folder / "out.mlir")
        if plan.returncode:
            failures.append(f"{' '.join(accepted)}: {plan.stderr}")
    if failures:
        sys.exit("\n".join(failures))
    print(f"{len(ROWS)} rows")


if __name__ == "__main__":
    main()
