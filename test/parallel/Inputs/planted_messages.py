#!/usr/bin/env python3
"""Exchanges tensors of one type between the functions of ranks, and expects comm-verify-order to refuse each program.

    planted_messages.py FOLDER

A tiny GPT-2 with tied embeddings is cut for the stages of pipelines, and for a root and its workers.  In each function of
ranks, two collectives of the same kind and types change places, and two messages send what the other should.  Of many exchanges, every so-manieth is tried."""

import itertools
import json
import pathlib
import re
import subprocess
import sys

MODEL = {"model_type": "gpt2", "n_embd": 8, "n_layer": 4, "n_head": 2, "n_positions": 4, "vocab_size": 16,
         "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "tie_word_embeddings": True}
PROGRAMS = {"comm-stages": [["--mesh=pp=2", "--accumulate=2", "--clip=1"],
                            ["--mesh=pp=2", "--accumulate=2", "--schedule=zb-v", "--clip=1"]],
            "comm-root-parallel": [["--mesh=dp=2", "--strategy=dataparallel", "--clip=1"]]}
MOST = 40  # of each program
COLLECTIVE = re.compile(r"\n    (%[\w:]+ = )?(comm\.\w+)( sum)?((?: %[\w#]+,?)*)( .*?comm\.moved = \[.*?\].*? : )(.*?)( loc\(.*)")


def must(folder, *command):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stderr[-3000:]}")
    return done.stdout


def mutants(text):
    """(what was done, the program)."""
    for function in re.finditer(r"\n  func\.func @(\w+)\(.*?\n  }", text, re.DOTALL):
        found = list(COLLECTIVE.finditer(text, *function.span()))
        for a, b in itertools.combinations(found, 2):
            group = re.search(r"(root \d+|to \d+|from \d+)? ?over @mesh \{\w+\}", a[5])[0]
            if (a[2], a[3], a[6]) != (b[2], b[3], b[6]) or group not in b[5]:
                continue
            yield (f"order of {a[2]} in {function[1]}",
                   text[:a.start()] + b[0] + text[a.end():b.start()] + a[0] + text[b.end():])
            if a[4] != b[4] and (not a[3] or "x" in a[6].split(" -> ")[0].replace("tensor<f32>", "")):
                yield (f"operands of {a[2]} in {function[1]}",
                       text[:a.start(4)] + b[4] + text[a.end(4):b.start(4)] + a[4] + text[b.end(4):])
        for one in found:
            operands, types = one[4].split(", "), one[6][1:].split(")")[0].split(", ")
            for i, j in itertools.combinations(range(len(operands)), 2):
                if len(types) == len(operands) and types[i] == types[j] and operands[i] != operands[j]:
                    swapped = list(operands)
                    swapped[i], swapped[j] = " " + operands[j].strip(), " " + operands[i].strip()
                    yield (f"tensors of one {one[2]} in {function[1]}",
                           text[:one.start(4)] + ",".join(" " + word.strip() for word in swapped) + text[one.end(4):])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(json.dumps(MODEL))
    must(folder, "braid-model", "model.json", "--batch=8", "--seq=4", "-o", "model.mlir")
    printed = "--mlir-print-debuginfo", "--mlir-print-local-scope"
    planted, missed = 0, []
    for name, flags in ((name, flags) for name, all_flags in PROGRAMS.items() for flags in all_flags):
        passes = must(folder, "braidc", "model.mlir", "--emit=memory", *flags, "--print-pipeline").strip()
        end = passes.index(name) + len(name)
        end = passes.index("}", end) + 1 if passes[end] == "{" else end
        text = must(folder, "braid-opt", "model.mlir", f"--pass-pipeline={passes[:end]})", *printed)

        def verify(program, *options):
            (folder / "mutant.mlir").write_text(program)
            return subprocess.run(["braid-opt", "mutant.mlir", "-o", "out.mlir", *options], cwd=folder,
                                  capture_output=True, text=True)
        if (clean := verify(text, "--comm-verify-order")).returncode:
            sys.exit(f"{name} {flags}: {clean.stderr}")
        every = list(mutants(text))
        for what, mutant in every[::-(-len(every) // MOST)]:
            refused = verify(mutant, "--comm-verify-order")
            if refused.returncode not in (0, 1):
                sys.exit(f"crash:\n{refused.stderr}")
            if refused.returncode and verify(mutant).returncode:
                continue  # a value would be used before it is there
            planted += 1
            if not refused.returncode:
                missed.append(f"{what} of {flags}")
    for what in missed:
        print(f"not found: {what}")
    print(f"{planted - len(missed)} of {planted} exchanges found")
    sys.exit(planted < 10 or bool(missed))


if __name__ == "__main__":
    main()
