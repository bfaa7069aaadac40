#!/usr/bin/env python3
"""Plants bugs in the programs of a pipeline's ranks, one at a time, and expects each to be found.

    planted_stages.py FOLDER

The program of a tiny GPT-2 with tied embeddings is cut in two stages, changed as text, and compiled.  A pass has to
refuse the change, or its losses and gradient norms have to differ from those of one rank.
"""

import json
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "equivalence" / "Inputs"))
from random_models import write_tokens

MODEL = {"model_type": "gpt2", "n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 4, "vocab_size": 16,
         "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "tie_word_embeddings": True}
FLAGS = ["--clip=0.05", "--accumulate=4"]
TOLERANCE, STEPS = 1e-5, 4


def run(folder, *command):
    try:
        return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        sys.exit(f"{command[0]} does not come to an end")


def must(folder, *command):
    done = run(folder, *command)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr[-3000:]}")
    return done.stdout


def train(folder, binary):
    """Returns losses and norms, or nothing if the job ends with an error."""
    done = run(folder, f"./{binary}", "train", "--data", "tokens", "--steps", STEPS, "--threads", 1, "--lr", "1e-2",
               "--lr-schedule", "constant", "--warmup", 0, "--log", f"{binary}.jsonl", "--force")
    if done.returncode:
        return None
    lines = map(json.loads, (folder / f"{binary}.jsonl").read_text().splitlines())
    return [(line["loss"], line["grad_norm"]) for line in lines]


def agree(some, others):
    return len(some) == len(others) and all(abs(a - b) <= TOLERANCE * max(abs(b), 1e-3)
                                            for one, other in zip(some, others) for a, b in zip(one, other))


def function(text, name):
    """Returns the range of a function's body in the text."""
    begin = text.index(f"func.func @{name}(")
    return begin, text.index("\n  }", begin)


def within(text, name, pattern, new, count=1):
    begin, end = function(text, name)
    body, changes = re.subn(pattern, new, text[begin:end], count=count)
    if not changes:
        sys.exit(f"@{name} has nothing like {pattern}")
    return text[:begin] + body + text[end:]


def norm_twice(text):
    """Rank 0 holds the tied table, and adds its squares once more."""
    begin, end = function(text, "train_pp0")
    squares = re.search(r"(%\w+) = tg\.reduce sum (%\w+) dims \[0, 1\] : tensor<16x8xf32>", text[begin:end])[1]
    return within(text, "train_pp0", r"(\n    %\w+ = )comm\.all_reduce sum (%\w+)( over @mesh \{pp\} \{.*?\} : \(tensor<f32>\) -> tensor<f32> (loc\(.*\)))\n(?=    %\w+ = math\.sqrt)",
                  lambda m: f"\n    %twice = arith.addf {m[2]}, {squares} : tensor<f32> {m[4]}{m[1]}comm.all_reduce sum %twice{m[3]}\n")


def norm_of_one(text):
    """Each rank has the norm of its own gradients."""
    for rank in (0, 1):
        text = within(text, f"train_pp{rank}", r"comm\.all_reduce sum (%\w+) over @mesh \{pp\} \{.*?\} : \(tensor<f32>\) -> tensor<f32> (loc\(.*\))\n(?=    %\w+ = math\.sqrt)",
                      lambda m: f"arith.addf {m[1]}, {m[1]} : tensor<f32> {m[2]}\n")
    return text


def without_scale(text, rank):
    """A sum over microbatches is not divided by their tokens."""
    begin, end = function(text, f"train_pp{rank}")
    scaled = re.search(r"(%\w+) = arith\.mulf (%arg\d+), %\w+ : tensor<24x8xf32>", text[begin:end])
    body = text[begin:scaled.end() + begin] + re.sub(re.escape(scaled[1]) + r"(?!\w)", scaled[2], text[scaled.end() + begin:end])
    return text[:begin] + body + text[end:]


def not_added(text, name, shape):
    """A microbatch replaces the sum of the earlier ones."""
    return within(text, name, rf"(%\w+) = arith\.addf (%arg\d+), (%\w+) : tensor<{shape}xf32> (loc\(.*\))\n",
                  lambda m: f"{m[1]} = arith.mulf {m[3]}, {m[3]} : tensor<{shape}xf32> {m[4]}\n")


def swapped_saved(text):
    """Backward takes one saved tensor for another of its type."""
    begin, end = function(text, "backward_0")
    names = re.findall(r'tensor<2x4x8xf32> \{exec\.slots = @stage0_saved, tg\.state = #tg\.state<"(stage0_saved\.\d+)"', text[begin:end])
    body = text[begin:end]
    for old, new in ((names[0], "%"), (names[1], names[0]), ("%", names[1])):
        body = body.replace(f'"{old}"', f'"{new}"')
    return text[:begin] + body + text[end:]


def swapped_messages(text):
    """Rank 1 receives the table's gradient before it sends its part."""
    begin, end = function(text, "train_pp1")
    lines = text[begin:end].split("\n")
    at = next(number for number, line in enumerate(lines) if "comm.send" in line)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return text[:begin] + "\n".join(lines) + text[end:]


MUTANTS = {
    "a message to another rank": lambda t: within(t, "send_activation_0", r" to 1 over", " to 0 over"),
    "a message from another rank": lambda t: within(t, "receive_gradient_0", r" from 1 over", " from 0 over"),
    "a message in another order": swapped_messages,
    "a message of another size": lambda t: within(t, "receive_activation_1", r"tensor<2x4x8xf32>", "tensor<2x4x4xf32>", count=0),
    "a root that has nothing": lambda t: within(t, "train_pp0", r"comm\.broadcast root 1", "comm.broadcast root 0"),
    "a cell of another stage": lambda t: t.replace("#comm.cell<forward, 1>", "#comm.cell<forward, 2>"),
    "a slot too few": lambda t: re.sub(r"(exec\.slots @stage0_saved) 2", r"\1 1", t),
    "slots of no stage": lambda t: t.replace("@stage0_saved", "@stage7_saved"),
    "a saved tensor for another": swapped_saved,
    "a norm that counts the tied table twice": norm_twice,
    "a norm of one rank": norm_of_one,
    "a sum that is not divided on rank 0": lambda t: without_scale(t, 0),
    "a sum that is not divided on rank 1": lambda t: without_scale(t, 1),
    "the last microbatch alone": lambda t: not_added(t, "backward_1", "24x8"),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_tokens(folder / "tokens", [i * i % 13 if i % 3 else i % 16 for i in range(4000)], 16)
    (folder / "model.json").write_text(json.dumps(MODEL))
    must(folder, "braid-model", "model.json", "--batch=8", "--seq=4", "-o", "model.mlir")
    must(folder, "braidc", "model.mlir", "-o", "one", *FLAGS)
    expected = train(folder, "one")

    passes = must(folder, "braidc", "--emit=memory", "--mesh=pp=2", *FLAGS, "--print-pipeline").strip()
    end = passes.index("}", passes.index("comm-stages{")) + 1
    before, behind = passes[:end] + ")", "builtin.module(" + passes[end + 1:]
    printed = "--mlir-print-debuginfo", "--mlir-print-local-scope"
    cut = must(folder, "braid-opt", "model.mlir", f"--pass-pipeline={before}", *printed)

    def losses(text):
        """None if a tool refuses the program."""
        (folder / "cut.mlir").write_text(text)
        planned = run(folder, "braid-opt", "cut.mlir", f"--pass-pipeline={behind}", *printed, "-o", "planned.mlir")
        if planned.returncode == 0:
            planned = run(folder, "braidc", "planned.mlir", "-o", "two")
        if planned.returncode < 0 or planned.returncode > 1:
            sys.exit(f"crash:\n{planned.stderr[-3000:]}")
        return train(folder, "two") if planned.returncode == 0 else planned.stderr

    if not agree(losses(cut), expected):
        sys.exit(f"the program without a bug trains otherwise than one rank: {losses(cut)} and {expected}")
    missed = 0
    for what, mutate in MUTANTS.items():
        mutant = mutate(cut)
        if mutant == cut:
            sys.exit(f"{what}: changes nothing")
        found = losses(mutant)
        if isinstance(found, list) and agree(found, expected):
            missed += 1
            print(f"not found: {what}")
        elif isinstance(found, list):
            print(f"{what}: differs")
        else:
            error = re.search(r"error: (.*)", found or "")
            print(f"{what}: refused{': ' + error[1] if error else ''}")
    print(f"{len(MUTANTS) - missed} of {len(MUTANTS)} planted bugs found")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
