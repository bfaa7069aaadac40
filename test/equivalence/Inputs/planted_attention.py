#!/usr/bin/env python3
"""Plants errors in attention, and runs the tests that claim to see them.

    planted_attention.py FOLDER [PLANT...] [--suites=NAME,...]

A planted error is 1 % of the gradient of queries, keys or values, of the scale or of the angles of rotary embeddings, or
one key more that the mask lets through.  It is put into copies of the runtime's headers, which a compiler in front of the
real one finds first.  Of suites that compare layouts only programs of several ranks have it: errors that all programs
share are for suites that compare with something else.  Prints a line for each plant and suite; fails if a suite passes
that should see the error, or if one fails without.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
RUNTIME = TESTS.parent / "runtime"
# Headers that the stand-in for CUDA has its own of.
REPLACED = [path.name for path in (TESTS / "cuda/shim/include/cuda").glob("*.h")]

# The file of each, what stands there, and what does with an error; on the CPU, then on CUDA.
QUERIES, KEYS = "[&](int64_t) { return scale; }, rows_of(dq", "[&](int64_t) { return scale; }, rows_of(dk"
PLANTS = {
    "nothing": [],
    "dq": [("cpu/Attention.h", QUERIES, QUERIES.replace("scale", "scale * PLANTED")),
           ("cuda/AttentionTiles.h", "store_rows(rows_of(dq, d.dq, batch, query, head, d.queries), sum, [&](int) { return scale; })",
            "store_rows(rows_of(dq, d.dq, batch, query, head, d.queries), sum, [&](int) { return scale * PLANTED; })")],
    "dk": [("cpu/Attention.h", KEYS, KEYS.replace("scale", "scale * PLANTED")),
           ("cuda/AttentionTiles.h", "sum_dk, [&](int) { return scale; }", "sum_dk, [&](int) { return scale * PLANTED; }")],
    "dv": [("cpu/Attention.h", "[](int64_t) { return 1.0f; }", "[](int64_t) { return PLANTED; }"),
           ("cuda/AttentionTiles.h", "sum_dv, [](int) { return 1.0f; }", "sum_dv, [](int) { return PLANTED; }")],
    "scale": [("cpu/Attention.h", "scale(static_cast<float>(d.scale) * kLog2E)", "scale(static_cast<float>(d.scale) * kLog2E * PLANTED)"),
              ("cuda/AttentionTiles.h", "d.scale * kLog2E)", "d.scale * kLog2E * PLANTED)")],
    "mask": [("cpu/Attention.h", "-kUnlimited, d.first}", "-kUnlimited, d.first + (PLANTED > 1)}"),
             ("cuda/AttentionTiles.h", "last(d.causal ? places.first(d)", "last(d.causal ? places.first(d) + (PLANTED > 1)")],
    "rope": [("cpu/LaneMath.h", "inline V sin(V x) {", "inline V sin(V x) {\n  x = x * PLANTED;"),
             ("cuda/LaneMath.h", "BRAID_LANE_FUNCTION(sin, ::sinf)", "BRAID_LANE_FUNCTION(sin, PLANTED * ::sinf)")],
}

# Suites: whether programs of one rank have the error, too, and the command.  That of CUDA has it there alone.
SUITES = {
    "pytorch": (True, """braid-model {goldens}/llama-tiny/config.json --batch 4 --seq 16 -o g.mlir &&
        braidc g.mlir -o g --beta2=0.95 --weight-decay=0.1 --decay-exclude=biases,norms,embeddings &&
        ./g train --init {goldens}/llama-tiny/weights.safetensors --data {goldens}/tokens.bin --batch-order sequential
            --holdout 0 --steps 10 --lr 1e-3 --lr-schedule constant --warmup 0 --force --log g.jsonl &&
        python3 {here}/compare_losses.py g.jsonl {goldens}/llama-tiny/goldens.json plain 1e-5"""),
    "interpreter": (True, """braid-model {goldens}/llama-tiny/config.json --batch 4 --seq 16 -o g.mlir && {peak} g.mlir &&
        braidc g.mlir -o g --optimizer=momentum && ./g train --data {goldens}/tokens.bin --batch-order sequential --holdout 0
            --steps 1 --lr 0.05 --lr-schedule constant --warmup 0 --seed 3 --checkpoint saved &&
        braid-interp g.mlir --pipeline-before=tg-make-programs,tg-differentiate{{function=train}},tg-apply-optimizer{{optimizer=momentum}}
            --steps=1 --data={goldens}/tokens.bin --set lr=0.05 --seed=3 --outputs=g.st &&
        python3 {here}/first_step.py compare g.st saved/step-00000001.safetensors"""),
    "axes": (False, "python3 {tests}/binary/Inputs/axes.py axes all 'cp=2 context=gather' llama"),
    "first step": (False, """braid-model {goldens}/llama-tiny/config.json --batch 4 --seq 15 -o g.mlir && braidc g.mlir -o one &&
        braidc g.mlir --mesh=cp=3 --transports=threads -o three &&
        {same_gradients} ./one ./three -- --data {goldens}/tokens.bin --threads 1"""),
    "check": (False, """python3 {check} {goldens}/llama-tiny/config.json --batch=2 --seq=15 --mesh=cp=3 --optimizer=sgd"""),
    "cuda": (True, "python3 {tests}/cuda/matrix.py --work cuda --only '^llama-f32$'"),
}

COMPILER = """#!/usr/bin/env python3
import os, sys
words = sys.argv[1:]
sources = [word for word in words if word.endswith((".cpp", ".cu")) and os.path.exists(word)]
planted = {all} or any("br_start(" in open(source).read() for source in sources)
if any(word.endswith("Programs.h") for word in words):
    at = words.index("-include")
    del words[at:at + 2]
os.execv({real!r}, [{real!r}, "-I{folder}", f"-DPLANTED={{1.01 if planted else 1.0}}f", *words])
"""


def plant(name, folder, everywhere, target):
    """A compiler that finds headers with this error."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("cpu", "cuda"):
        shutil.copytree(RUNTIME / part, folder / part, ignore=shutil.ignore_patterns(*REPLACED))
    for file, right, wrong in (edit for edit in PLANTS[name] if edit[0].startswith(target)):
        text = (folder / file).read_text()
        if right not in text:
            sys.exit(f"{name}: {file} no longer has '{right}'")
        (folder / file).write_text(text.replace(right, wrong))
    compiler = folder / "bin" / "c++"
    compiler.parent.mkdir()
    compiler.write_text(COMPILER.format(all=everywhere, real=os.environ.get("BRAID_CXX") or shutil.which("c++"), folder=folder))
    compiler.chmod(0o755)
    return compiler.parent


def passes(command, work, binaries):
    """Whether the suite passes, and how it says by how much a number is off; else it has failed for another reason."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    first_step = f"python3 {HERE}/first_step.py"
    command = command.format(here=HERE, tests=TESTS, goldens=TESTS / "goldens", peak=f"{first_step} peak", check=TESTS.parent / "scripts/check",
                             same_gradients=f"{first_step} run")
    done = subprocess.run(["sh", "-c", " ".join(command.split())], cwd=work, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}", "BRAID_CXX": str(binaries / "c++")})
    found = re.search(r"[^\n:]* off by [-.e\d]+|[^\n:]* relative error [-.e\d]+|[^\n]*DIFFERS[^\n]*", done.stdout + done.stderr)
    if done.returncode and not found:
        sys.exit(f"{command}:\n{done.stdout}{done.stderr}")
    return done.returncode == 0, found[0].strip() if found else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("plants", nargs="*", default=list(PLANTS))
    parser.add_argument("--suites", default=",".join(SUITES))
    args = parser.parse_args()
    folder, wrong = args.folder.absolute(), 0
    for name in args.plants or PLANTS:
        for suite in args.suites.split(","):
            everywhere, command = SUITES[suite]
            compiler = plant(name, folder / "headers", everywhere, "cuda" if suite == "cuda" else "cpu")
            right, said = passes(command, folder / "work", compiler)
            expected = right == (name == "nothing")
            wrong += not expected
            print(f"{'as expected' if expected else 'WRONG'}: {suite} with {name}: {'passes' if right else 'fails'}, {said}",
                  flush=True)
    print(f"{wrong} results are wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
