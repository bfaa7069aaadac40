#!/usr/bin/env python3
"""Every family with one head, one row, one layer, one token, vocabulary 1: the programs in memory compute what those on
values do, in the interpreter.

    families_ones.py FOLDER WORK [each]     FOLDER holds a folder with a config.json for each family

With one head, row and layer; and with one of everything.  With `each`, all pairs of these, on two ranks as well.  A
model that is refused must say so in one line of its own.
"""

import itertools
import json
import pathlib
import subprocess
import sys

HEADS = {"num_attention_heads": 1, "num_key_value_heads": 1, "n_head": 1}
LAYERS = {"num_hidden_layers": 1, "n_layer": 1, "max_window_layers": 0, "decoder_sparse_step": 1}
VOCABULARY = {"vocab_size": 1, "pad_token_id": 0}
EXPERTS = {"num_local_experts": 1, "num_experts": 1, "num_experts_per_tok": 1}
CHANGES = {"head": HEADS, "layer": LAYERS, "vocabulary": VOCABULARY, "expert": EXPERTS}
NAMES = ["head", "row", "layer", "token", "vocabulary", "expert"]


def changed(config, ones):
    config = dict(config)
    for name in ones:
        config |= {key: value for key, value in CHANGES.get(name, {}).items() if key in config}
    if "layer_types" in config and "layer" in ones:
        config["layer_types"] = config["layer_types"][:1]
    return config


def check(config, ones, work, options):
    """None, or what is wrong."""
    (work / "config.json").write_text(json.dumps(changed(config, ones)))
    graph, actions = work / "graph.mlir", work / "actions.mlir"
    row, token = (1 if name in ones else size for name, size in (("row", 2), ("token", 5)))
    commands = [["braid-model", work / "config.json", f"--batch={row}", f"--seq={token}", "-o", graph],
                ["braidc", graph, "--emit=exec", *options, "-o", actions],
                ["braid-interp", actions, "--compare", "--rtol=1e-4", "--pipeline=braid-memory"]]
    for number, command in enumerate(commands):
        run = subprocess.run(command, capture_output=True, text=True)
        if number < 2 and run.returncode == 1 and run.stderr.count("error:") == 1 and "PLEASE" not in run.stderr:
            return "refused: " + next(line for line in run.stderr.split("\n") if "error:" in line)
        if run.returncode or (number == 2 and run.stdout.count("results agree") < 2):
            return f"FAILED: {' '.join(map(str, command))} ended with {run.returncode}: {run.stdout}{run.stderr[-1500:]}"
    return None


def cases(is_long):
    yield ["head", "row", "layer"], []
    yield [name for name in NAMES if name != "vocabulary"], []  # with one class every gradient is 0
    yield NAMES, []
    if is_long:
        for ones in [[name] for name in NAMES] + list(map(list, itertools.combinations(NAMES, 2))):
            yield ones, []
            yield ones, ["--attention=decompose"]
            if "row" not in ones:
                yield ones, ["--mesh=dp=2"]
            yield ones, ["--mesh=tp=2"]


def main():
    folder, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    work.mkdir(parents=True, exist_ok=True)
    agree = failed = 0
    for config in sorted(folder.glob("*/config.json")):
        for ones, options in cases(len(sys.argv) > 3):
            problem = check(json.loads(config.read_text()), ones, work, options)
            if problem:
                print(f"{config.parent.name} with one {', '.join(ones)} {' '.join(options)}: {problem}", flush=True)
            failed += bool(problem) and problem.startswith("FAILED")
            agree += problem is None
    print(f"{agree} agree, {failed} fail")
    return failed > 0 or agree == 0


if __name__ == "__main__":
    sys.exit(main())
