#!/usr/bin/env python3
"""Checks docs/Parallelism.md: check_parallelism.py PAGE.md CONFIG.json EXPERTS.json LAYERS.json...

`<!-- lines ZERO [AXES] -->` stands before lines that the passes of a strategy make of
the page's graph, in this order; names of values do not count. `<!-- plan FLAGS [AXES] -->`
stands before a table of formulas: the bytes that braidc reports for a GPT-2 with
these flags, without padding between rows. "At most" columns are bounds, others are exact.
`<!-- layers -->` stands before a table of flags and of what each adds for one more layer: to the
elements that @train of the models LAYERS.json sends; `<!-- kept -->` is the same of what it keeps for backward,
with a column for each family of models, and `<!-- experts -->` of what EXPERTS.json sends to experts and back and
otherwise.  `<!-- input NAME -->` stands before another graph, and `<!-- lines of NAME by PASSES -->` before lines of what
passes make of it.  `<!-- lines stages AXES -->` stands before lines of
the functions of stages, and `<!-- stages -->` before a table of flags and of what stages send each other in a
microbatch.
"""

import collections
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

INPUT = re.compile(r"<!-- input -->\n```mlir\n(.*?)```", re.S)
OTHER_INPUT = re.compile(r"<!-- input (\w+) -->\n```mlir\n(.*?)```", re.S)
OTHER_LINES = re.compile(r"<!-- lines of (\w+) by (.*?) -->\n```mlir\n(.*?)```", re.S)
LINES = re.compile(r"<!-- lines (\S+)( \S+=\S+)? -->\n```mlir\n(.*?)```", re.S)
PLAN = re.compile(r"<!-- plan ((?:--\S+ ?)+)(\S+=\S+ )?-->\n\|(.*)\|\n\|[-|]+\|\n\|(.*)\|\n")
ROWS = r" -->\n\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n)+)"
LAYERS, KEPT, EXPERTS, STAGES = (re.compile(f"<!-- {what}" + ROWS) for what in ("layers", "kept", "experts", "stages"))
BATCH, SEQ = 16, 16
MICROBATCHES = 4 # of stages
ALIGNMENT = 64 # bytes, of each tensor in the arena


def run(*command, text=None):
    result = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{result.stderr}")
    return result.stdout


def mesh_of(axes):
    return axes.strip() if axes else "dp=2"


def without_names(line):
    """Only the name counts in the head of a function."""
    return re.sub(r"%[\w#:]+", "%", re.sub(r"^(func\.func @\w+)\(.*", r"\1", line.strip()))


def passes_of(zero, axes):
    if zero == "stages":
        return ("tg-derive-facts,tg-split-loss,tg-differentiate,tg-accumulate{separate-update},"
                "func.func(tg-apply-optimizer{optimizer=momentum}),canonicalize,cse,"
                f"comm-stages{{microbatches={MICROBATCHES}}},canonicalize,cse")
    names = [axis.split("=")[0] for axis in mesh_of(axes).split(",")]
    shard = "shard" if "shard" in names else ",".join(names)
    return ("tg-differentiate,func.func(tg-apply-optimizer{optimizer=momentum}),"
            f"tg-derive-facts,comm-data-parallel{{axes={','.join(names)} shard={shard} {zero}}},comm-shard,canonicalize,cse,"
            "func.func(comm-gather-units,comm-bucket)")


def check_lines(graph, passes, block):
    made = run("braid-opt", f"--pass-pipeline=builtin.module({passes})", text=graph)
    lines = iter([without_names(line) for line in made.splitlines()])
    for wanted in block.strip().splitlines():
        if without_names(wanted) not in lines:
            print(f"{passes}: do not make, at its place,\n{wanted}\nbut\n{made}")
            return False
    return True


def parameters(graph):
    """Elements of each parameter, by unit."""
    units = {}
    for shape, unit in re.findall(r"tensor<([0-9x]*)xf32> \{[^{}]*?#tg\.param<[^>]*>(?:[^<>{}]*?unit = \"([^\"]*)\")?", graph):
        count = 1
        for size in shape.split("x"):
            count *= int(size)
        units.setdefault(unit, []).append(count)
    return units


def is_block(unit):
    return re.search(r"\d", unit) is not None


def symbols(graph, axes, microbatches):
    units = parameters(graph)
    sizes = dict(axis.split("=") for axis in axes.split(","))
    ranks = 1
    for size in sizes.values():
        ranks *= int(size)
    shard = int(sizes.get("shard", ranks))
    counts = [count for unit in units.values() for count in unit]
    return {"P": sum(counts), "N": shard, "M": ranks, "K": microbatches, "S": sum(-(-count // shard) for count in counts),
            "F": max(sum(unit) for name, unit in units.items() if is_block(name)),
            "R": sum(sum(unit) for name, unit in units.items() if not is_block(name)), "tensors": len(counts)}


def regathered(plan):
    """Elements of a rank's shards that @train gathers a second time."""
    seen, again = set(), 0
    for collective in plan["collectives"]:
        if collective["program"] == "train" and collective["op"] == "all_gather":
            names = set(collective["tensors"])
            again += collective["bytes_moved"] // 4 // (collective["ranks"] - 1) if names <= seen else 0
            seen |= names
    return again


def reported(plan, microbatches):
    """Returns bytes by the names of the columns."""
    programs, kept = plan["programs"], plan["persistent"]
    def sent(name):
        return sum(c["bytes_moved"] for c in plan["collectives"] if c["program"] == name and c["bytes"] > 32)
    def held(*categories):
        return max(sum(p["by_category"][category] for category in categories)
                   for name, p in programs.items() if name in ("train", "accumulate"))
    def exact(category):
        return kept[category]["bytes"] - kept[category]["padding_bytes"]
    return {"parameters": exact("parameters"), "optimizer state": exact("optimizer_state"),
            "accumulators": exact("gradients") - 8 if microbatches > 1 else 0, # the loss and the count
            "gradients, at most": held("gradients", "buckets"), "gathered, at most": held("gathered"),
            "sent": sent("train") + (microbatches - 1) * sent("accumulate")}


def check_plan(graph_file, flags, axes, header, formulas):
    axes = (axes or "dp=4").strip()
    flags = flags.split()
    if "--zero=3" in flags:
        flags.append("--prefetch=1") # as the page says; by itself it depends on predicted times
    microbatches = next((int(flag.split("=")[1]) for flag in flags if flag.startswith("--accumulate")), 1)
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "plan.json"
        run("braidc", graph_file, f"--mesh={axes}", *flags, "--row-alignment=0", "--emit=memory", "-o", os.devnull, f"--report={report}")
        plan = json.loads(report.read_text())
    names = symbols(graph_file.read_text(), axes, microbatches) | {"B": regathered(plan)}
    values, good = reported(plan, microbatches), True
    for column, cell in zip(header.split("|"), formulas.split("|"), strict=True):
        column, formula = column.strip(), cell.strip().strip("`")
        if not re.fullmatch(r"[PNMKSRFB0-9+*/() -]+", formula):
            sys.exit(f"'{formula}' is no formula")
        wanted = eval(formula, {"__builtins__": {}}, names) # of letters and arithmetic only
        slack = 2 * ALIGNMENT * names["tensors"] if wanted else 0 # of a gradient and of its shard
        fits = values[column] <= wanted + slack if column.endswith("at most") else abs(values[column] - wanted) < 1
        if not fits:
            print(f"{' '.join(flags)} {axes}: {column}: the page says {formula} = {wanted}, the report {values[column]} ({names})")
            good = False
    return good


@functools.cache
def graph_of(config, layers):
    """The settings of the model and its graph."""
    settings = json.loads(pathlib.Path(config).read_text())
    settings["n_layer" if "n_layer" in settings else "num_hidden_layers"] = layers
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(settings, file)
        file.flush()
        return settings, run("braid-model", file.name, "--batch", BATCH, "--seq", SEQ, "-o", "-")


@functools.cache
def plan_of(config, layers, flags):
    """The report; rows of several tables ask for the same.  Sampling does not count, so it does without a cache."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "plan.json"
        run("braidc", "-", *flags, "--without=tg-make-decode", "--emit=memory", "-o", os.devnull, f"--report={report}",
            text=graph_of(config, layers)[1])
        return json.loads(report.read_text())


def sent_by_name(plan):
    """Bytes by the names of collectives."""
    sent = collections.Counter()
    for collective in plan["collectives"]:
        if collective["program"] == "train":
            sent[collective["op"]] += collective["bytes_moved"]
    return sent


def sent(plan):
    return sent_by_name(plan).total()


def kept(plan):
    return sum(entry["bytes"] * len(entry["units"]) for entry in plan["programs"]["train"]["kept_for_backward"])


def symbols_of_layer(settings, graph, ranks):
    h = settings.get("n_embd") or settings["hidden_size"]
    heads = settings.get("n_head") or settings["num_attention_heads"]
    unit = next(name for name in parameters(graph) if is_block(name))
    vectors = re.findall(r"tensor<(\d+)xf32> \{tg\.param = #tg\.param<\"([^\"]*)\"[^{}]*unit = \"" + re.escape(unit) + '"', graph)
    whole = sum(int(size) for size, name in vectors if not re.search(r"c_attn\.bias|c_fc\.bias", name))
    mlp = settings.get("intermediate_size", 4 * h)
    return {"b": BATCH, "s": SEQ, "h": h, "a": heads, "f": mlp, "g": h // heads * settings.get("num_key_value_heads", heads), "n": whole,
            "P": sum(parameters(graph)[unit]), "t": ranks, "c": ranks}


def check_layer(config, flags, formula, ranks, measure):
    """Returns the increase of `measure` of a report by one more layer."""
    flags = () if flags == "one rank" else tuple(re.sub(r"=[tc]$", f"={ranks}", flag) for flag in flags.split())
    few, many = (plan_of(config, layers, flags) for layers in (2, 3))
    names = symbols_of_layer(*graph_of(config, 3), ranks)
    if not re.fullmatch(r"[bshgnfaPtc0-9+*/() -]+", formula):
        sys.exit(f"'{formula}' is no formula")
    wanted = 4 * eval(formula, {"__builtins__": {}}, names) # of letters and arithmetic only
    found = measure(many) - measure(few)
    if found == wanted:
        return True
    print(f"{config} {' '.join(flags)}: the page says {formula}, {wanted} bytes, the reports differ by {found} ({names})")
    return False


def check_layers(rows, configs, measure):
    """With a formula for all models, or one for each."""
    good, checks = True, 0
    for row in rows.strip().splitlines():
        flags, *formulas = (cell.strip().strip("`") for cell in row.strip("|").split("|"))
        for config, formula in zip(configs, formulas if len(formulas) > 1 else formulas * len(configs), strict=True):
            for ranks in (2, 4):
                good &= check_layer(config, flags, formula, ranks, measure)
                checks += 1
    return good, checks


def check_experts(rows, config):
    good, checks = True, 0
    for row in rows.strip().splitlines():
        flags, *formulas = (cell.strip().strip("`") for cell in row.strip("|").split("|"))
        for ranks in (2, 4):
            words = tuple(re.sub(r"=n\b", f"={ranks}", flags).split())
            few, many = (plan_of(config, layers, words) for layers in (2, 3))
            settings, graph = graph_of(config, 3)
            more = sent_by_name(many) - sent_by_name(few)
            unit = next(name for name in parameters(graph) if is_block(name))
            stacks = re.findall(r"tensor<([0-9x]+)xf32> \{tg\.param = #tg\.param<\"[^\"]*\.experts\.[^{}]*unit = \"" + re.escape(unit) + '"', graph)
            names = {"b": BATCH, "e": settings["num_local_experts"], "c": SEQ, "h": settings["hidden_size"], "n": ranks,
                     "P": sum(parameters(graph)[unit]), "X": sum(math.prod(map(int, shape.split("x"))) for shape in stacks)}
            sent = [more["all_to_all"], more.total() - more["all_to_all"]]
            for formula, found in zip(formulas, sent, strict=True):
                if not re.fullmatch(r"[bechnPX0-9+*/() -]+", formula):
                    sys.exit(f"'{formula}' is no formula")
                wanted = 4 * eval(formula, {"__builtins__": {}}, names) # of letters and arithmetic only
                checks += 1
                if found != wanted:
                    print(f"{config} {' '.join(words)}: the page says {formula}, {wanted} bytes, the reports differ by {found} ({names})")
                    good = False
    return good, checks


def check_stages(rows, configs):
    good, checks = True, 0
    for row in rows.strip().splitlines():
        flags, formula = (cell.strip().strip("`") for cell in row.strip("|").split("|"))
        if not re.fullmatch(r"[bsh0-9+*/() -]+", formula):
            sys.exit(f"'{formula}' is no formula")
        for config in configs:
            stages = plan_of(config, 4, (*flags.split(), f"--accumulate={MICROBATCHES}"))["pipeline"]["stages"]
            settings, _ = graph_of(config, 4)
            names = {"b": BATCH // MICROBATCHES, "s": SEQ, "h": settings.get("n_embd") or settings["hidden_size"]}
            wanted = 4 * eval(formula, {"__builtins__": {}}, names) # of letters and arithmetic only
            found = sum(stage["activation_bytes"] + stage["gradient_bytes"] for stage in stages)
            checks += 1
            if found != wanted:
                print(f"{config} {flags}: the page says {formula}, {wanted} bytes, the report {found} ({names})")
                good = False
    return good, checks


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    graph, checks = INPUT.search(page).group(1), 0
    good = True
    for zero, axes, block in LINES.findall(page):
        mesh = f"comm.mesh @mesh [{mesh_of(axes).replace(',', ', ').replace('=', ' = ')}]"
        good &= check_lines(re.sub(r"comm.mesh @mesh \[.*\]", mesh, graph), passes_of(zero, axes), block)
        checks += 1
    others = dict(OTHER_INPUT.findall(page))
    for name, passes, block in OTHER_LINES.findall(page):
        good &= check_lines(others[name], passes, block)
        checks += 1
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "model.mlir"
        run("braid-model", sys.argv[2], "--batch", BATCH, "--seq", SEQ, "-o", model)
        for table in PLAN.findall(page):
            good &= check_plan(model, *table)
            checks += 1
    for those, count in (check_layers(LAYERS.search(page).group(1), sys.argv[4:], sent),
                         check_layers(KEPT.search(page).group(1), sys.argv[4:], kept),
                         check_experts(EXPERTS.search(page).group(1), sys.argv[3]),
                         check_stages(STAGES.search(page).group(1), sys.argv[4:])):
        good &= those
        checks += count
    print(f"{checks} checks, {'all good' if good else 'some wrong'}")
    sys.exit(0 if good and checks >= 117 else 1)


if __name__ == "__main__":
    main()
