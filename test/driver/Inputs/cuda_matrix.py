"""Compiles every example for CUDA, for each way to shard it and each precision.

usage: cuda_matrix.py kernels|cover|programs|pairs <examples folder> <scratch folder> [--models a,b] [--ways a,b]
                      [--gpus a,b] [--without CASE]

kernels   for every GPU, the kernels alone: those that differ from all before, in one compile; warnings are errors,
          none may spill its registers to memory, a block can have the registers that its threads take, launches have
          the threads that kernels are bounded for, and from sm_90 on each waits for the kernel in front of it (where
          there is cuobjdump)
cover     the same, with one GPU for each model, way and precision, so that each model, each way and each precision
          meets every GPU
pairs     counts the pairs of a model, way, precision and GPU that cover leaves out; --without takes a case away
programs  compiles and links whole programs, with a GPU for each in turn
"""
import argparse
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

GPUS = ["sm_80", "sm_90", "sm_90a", "sm_100"]
WAYS = {
    "one": [],
    "ddp": ["--mesh=dp=2"],
    "zero1": ["--mesh=dp=2", "--zero=1"],
    "zero2": ["--mesh=dp=2", "--zero=2"],
    "zero3": ["--mesh=dp=2", "--zero=3"],
    "hsdp": ["--mesh=replica=2,shard=2", "--zero=3"],
}
PRECISIONS = ["f32", "bf16"]
FUNCTION = re.compile(r"^(?://[^\n]*\n)*__global__ [^;{]*? (\w+)_kernel(\(.*?^\})\n", re.M | re.S)
ROOT = pathlib.Path(__file__).resolve().parents[3]


def graphs(examples, scratch, layers):
    """Functions that make the graph of a model; GPT-2 with so many layers, for all have the same kernels."""
    def model(name, *words):
        path = scratch / f"{name}.mlir"
        if not path.exists():
            subprocess.run(["braid-model", *map(str, words), "-o", str(path)], check=True)
        return path
    def gpt2():
        config = json.loads((examples / "gpt2-124m" / "config.json").read_text())
        path = scratch / "gpt2-124m.json"
        path.write_text(json.dumps({**config, "n_layer": layers or config["n_layer"]}))
        return path
    return {
        "mlp": lambda: examples / "mlp-by-hand" / "mlp.mlir",
        "gpt-small": lambda: model("gpt-small", "--preset=gpt-small", "--batch", 4, "--seq", 32),
        "llama-tiny": lambda: model("llama-tiny", examples / "llama-tiny" / "config.json", "--batch", 4, "--seq", 32),
        "moe": lambda: model("moe", examples / "moe" / "config.json", "--batch", 4, "--seq", 32, "--capacity-factor=1.25"),
        "gpt2-124m": lambda: model("gpt2-124m", gpt2(), "--batch", 4, "--seq", 64),
    }


def unlike(text, seen):
    """A kernels.cuh without the functions that were seen, names and comments aside; how many it has left."""
    kept = 0

    def keep(match):
        nonlocal kept
        bare = re.sub(r"//.*|\s+", "", match.group(2))
        if bare in seen:
            return ""
        seen.add(bare)
        kept += 1
        return match.group(0)
    return FUNCTION.sub(keep, text), kept


# Registers of a block, and how many a warp gets at once, on every GPU.
REGISTERS, REGISTER_UNIT = 65536, 256
BOUNDS = re.compile(r"__launch_bounds__\((\d+)[^{;]*? void (\w+_kernel)\(")


def bounds_of(text):
    """The threads that each kernel is compiled for."""
    return {name: int(threads) for threads, name in BOUNDS.findall(text)}


def launched_otherwise(folder):
    """Returns the launches whose number of threads differs from the kernel's."""
    bounds = bounds_of((folder / "kernels.cuh").read_text())
    launches = re.findall(r"\blaunch\w*\(m,[^;]*?\b(\d+),\s+(\w+_kernel)\b", (folder / "step.cu").read_text())
    if not launches:
        return "no launches were found"
    return "\n".join(f"{name} is bounded for {bounds.get(name)} threads, and launched with {threads}"
                     for threads, name in launches if bounds.get(name) != int(threads))


def too_many_registers(case, text, ptxas):
    """Returns the kernels of which no block can start, by the registers that ptxas reports."""
    used = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", ptxas, re.S)
    for name, threads in bounds_of(text).items():
        registers = [int(count) for mangled, count in used if re.search(rf"\d{case}\d+{name}E", mangled)]
        if len(registers) != 1:
            yield f"ptxas says nothing of {name} in {case}"
        elif (-(-registers[0] * 32 // REGISTER_UNIT) * REGISTER_UNIT) * (-(-threads // 32)) > REGISTERS:
            yield f"{name} in {case} takes {registers[0]} registers for each of {threads} threads, and a block has {REGISTERS}"


def joined(texts):
    """Kernels of several cases as one source, each in a namespace."""
    lines = []
    for case, text in texts.items():
        body = re.sub(r"^#(ifndef|define|endif).*\bKERNELS_CUH\b.*$", "", text, flags=re.M)
        lines.append(body.replace("namespace braid {", f"namespace braid {{\nnamespace {case} {{", 1)
                     .replace("} // namespace braid", f"}} // namespace {case}\n}} // namespace braid", 1))
    return "\n".join(lines)


def compile_kernels(texts, gpu, scratch):
    """Returns the faults of the kernels of these cases."""
    source, cubin = scratch / "kernels.cuh", scratch / "kernels.cubin"
    source.write_text(joined(texts))
    command = ["nvcc", "-std=c++20", "-O3", f"-arch={gpu}", "-Werror", "all-warnings", "-Xptxas", "-v", f"-I{ROOT / 'runtime'}",
               "-x", "cu", "-cubin", "-o", str(cubin), str(source)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return done.stdout[-3000:]
    names = re.findall(r"Compiling entry function '(\w+)'", done.stdout)
    spills = [int(stored) + int(loaded) for stored, loaded in re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stdout)]
    if len(names) != len(spills):
        return f"ptxas says nothing of some kernels: {done.stdout[-1000:]}"
    wrong = [f"{name} spills {count} bytes" for name, count in zip(names, spills) if count]
    for case, text in texts.items():
        wrong += too_many_registers(case, text, done.stdout)
    if gpu != "sm_80" and shutil.which("cuobjdump"):
        waits = subprocess.run([sys.executable, ROOT / "bench/launch_waits.py", cubin], stdout=subprocess.PIPE, text=True)
        wrong += [waits.stdout] if waits.returncode else []
    return "\n".join(wrong)


def cover_of(cases):
    """The GPU of each case: for one model all GPUs come in turn, for one way or precision too."""
    models, ways = (list(dict.fromkeys(case[i] for case in cases)) for i in (0, 1))
    for model, way, precision in cases:
        turn = models.index(model) + ways.index(way) + 2 * PRECISIONS.index(precision)
        yield model, way, precision, GPUS[turn % len(GPUS)]


def pairs_of(cases):
    return set().union(*(itertools.combinations(case, 2) for case in cases))


def pairs(cases, without):
    """Returns the pairs of the product with all GPUs that the cover lacks."""
    product = [(*case, gpu) for case in cases for gpu in GPUS]
    chosen = [case for case in cover_of(cases) if " ".join(case) != without]
    left_out = sorted(pairs_of(product) - pairs_of(chosen))
    print(f"{len(chosen)} of {len(product)} cases have {len(pairs_of(chosen))} pairs, {len(left_out)} are left out")
    for one, other in left_out:
        print(f"left out: {one} with {other}")
    return left_out


def kernels(chosen, cases, gpus, scratch):
    failed = []
    for gpu in gpus:
        seen, texts = set(), {}
        for name, way, precision, _ in (case for case in cases if case[3] == gpu):
            folder = scratch / "cu"
            subprocess.run(["braidc", str(chosen[name]()), f"--target=cuda:{gpu}", f"--precision={precision}", *WAYS[way],
                            "--emit=cu", "-o", str(folder)], check=True)
            text, count = unlike((folder / "kernels.cuh").read_text(), seen)
            texts[f"{name}_{way}_{precision}".replace("-", "_")] = text
            wrong = launched_otherwise(folder)
            print(f"{name} {way} {precision} {gpu}: {count} kernels: {'FAILED' if wrong else 'launched as compiled'}", flush=True)
            if wrong:
                failed.append((name, way, precision, gpu))
                print(wrong, flush=True)
        wrong = compile_kernels(texts, gpu, scratch)
        print(f"{gpu}: {len(seen)} kernels of {len(texts)} programs: {'FAILED' if wrong else 'ok'}", flush=True)
        if wrong:
            failed.append(gpu)
            print(wrong, flush=True)
    return failed


def programs(chosen, ways, scratch):
    failed, gpus = [], itertools.cycle(GPUS)
    for name, make in chosen.items():
        for way, precision in itertools.product(ways, PRECISIONS):
            binary, gpu = scratch / "train", next(gpus)
            said = subprocess.run(["braidc", str(make()), f"--target=cuda:{gpu}", f"--precision={precision}", *WAYS[way],
                                   "-o", str(binary)], capture_output=True, text=True)
            if said.returncode == 0 and not said.stderr:
                said = subprocess.run([str(binary), "info"], capture_output=True, text=True)
            right = said.returncode == 0 and not said.stderr
            print(f"{name} {way} {precision} {gpu}: {'ok' if right else 'FAILED'}", flush=True)
            if not right:
                failed.append((name, way, precision))
                print(said.stderr, flush=True)
        gpus = itertools.islice(gpus, 1, None)  # another GPU for the same way of the next model
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kernels", "cover", "programs", "pairs"])
    parser.add_argument("examples", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--models", default="mlp,gpt-small,llama-tiny,gpt2-124m")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--gpus", default=",".join(GPUS))
    parser.add_argument("--without", default="", help="a case, such as 'mlp one f32 sm_80'")
    args = parser.parse_args()
    args.scratch.mkdir(parents=True, exist_ok=True)
    known = graphs(args.examples, args.scratch, layers=2 if args.what == "cover" else None)
    chosen, ways = {name: known[name] for name in args.models.split(",")}, args.ways.split(",")
    cases = list(itertools.product(chosen, ways, PRECISIONS))
    if args.what == "programs":
        failed = programs(chosen, ways, args.scratch)
    elif args.what == "pairs":
        failed = pairs(cases, args.without)
    else:
        with_gpus = list(cover_of(cases)) if args.what == "cover" else [(*case, gpu) for case in cases for gpu in GPUS]
        failed = kernels(chosen, with_gpus, args.gpus.split(","), args.scratch)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
