#!/usr/bin/env python3
"""Computes how the kernels of an emitted folder fill a GPU, from nvcc's output: no GPU is needed.

    braidc gpt.mlir --target=cuda:sm_90 --emit=dir -o gpt && bench/occupancy.py gpt --arch=sm_90

A kernel that moves data is as fast as the memory if enough bytes are in flight at any time: latency times bandwidth,
about 16 KiB a multiprocessor of an A100 and 32 KiB of an H100 or more under load. The columns are those of that
product: threads that are resident (registers, shared memory and the size of the grid limit them), times the bytes that
a thread has asked for before it waits for the first of them. The latter is read off the machine code, and needs
cuobjdump; operands that stay in a cache count as well. What a kernel prefetches is on its way beside its loads.
"""
import argparse
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Per architecture: multiprocessors of its usual GPU, bytes of shared memory of one. Threads (2048), blocks (32) and
# registers (65536) of one are the same for all, and so is how they are dealt out.
GPUS = {"sm_80": (108, 164 << 10), "sm_90": (132, 228 << 10), "sm_90a": (132, 228 << 10), "sm_100": (148, 228 << 10)}
WARP, WARPS, BLOCKS, QUARTER_REGISTERS = 32, 64, 32, 16384
REGISTER_UNIT, SHARED_UNIT, SHARED_OF_BLOCK = 256, 128, 1024


def align(value, unit):
    return (value + unit - 1) // unit * unit


def resident_blocks(threads, registers, shared, arch):
    """Blocks of a kernel that a multiprocessor holds at once."""
    warps = math.ceil(threads / WARP)
    by_registers = 4 * (QUARTER_REGISTERS // align(max(registers, 1) * WARP, REGISTER_UNIT)) // warps
    by_shared = GPUS[arch][1] // align(shared + SHARED_OF_BLOCK, SHARED_UNIT)
    return min(BLOCKS, WARPS // warps, by_registers, by_shared)


def read_shapes(text):
    """Returns the blocks and threads of each kernel from its comment; no blocks for kernels of any length."""
    shapes = {}
    for comment, name in re.findall(r"((?:^//.*\n)+)__global__[^;{]*? void (\w+)\(", text, re.M):
        words = re.sub(r"\s*\n// ", " ", comment)
        shape = re.search(r"; (?:(\d+) )?blocks? of (\d+) thread", words)
        if shape:
            shapes[name] = (int(shape[1]) if shape[1] else None, int(shape[2]))
    return shapes


def read_prefetches(text):
    """The bytes that a thread of each kernel prefetches in one turn of its first loop over lanes."""
    sizes = {"float": 4, "int32_t": 4, "bf16": 2, "int64_t": 8, "bool": 1}
    found = {}
    for name, parameters, body in re.findall(r"^__global__[^;{]*? void (\w+)\(([^{]*)\{\n(.*?)^\}", text, re.M | re.S):
        types = {pointer: sizes[kind] for kind, pointer in re.findall(r"(\w+) \*(?:__restrict__ )?(\w+)", parameters)}
        width = re.search(r"\bW = (\d+)", body)
        found[name] = sum(types[pointer] for pointer in re.findall(r"\bprefetch\((\w+)", body)) * int(width[1] if width else 1)
    return found


def read_resources(text):
    """Returns registers, bytes of shared memory and bytes of spills, from the output of ptxas."""
    resources = {}
    name = None
    for line in text.splitlines():
        if entry := re.search(r"Compiling entry function '(\w+)'", line):
            name, spills = entry[1], 0
        elif spilled := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = int(spilled[1]) + int(spilled[2])
        elif (used := re.search(r"Used (\d+) registers(.*)", line)) and name:
            shared = re.search(r"(\d+) bytes smem", used[2])
            resources[plain_name(name)] = (int(used[1]), int(shared[1]) if shared else 0, spills)
    return resources


def plain_name(mangled):
    """The last part of a name in namespaces: _ZN5braid9k0_kernelE... is k0_kernel."""
    rest, name = mangled.removeprefix("_ZN").removeprefix("_Z"), mangled
    while length := re.match(r"\d+", rest):
        name = rest[length.end():length.end() + int(length[0])]
        rest = rest[length.end() + int(length[0]):]
    return name


def bytes_in_flight(instructions):
    """Returns the peak of the bytes that a thread has requested and not yet used."""
    pending, most = {}, 0
    for text in instructions:
        load = re.search(r"\bLDG\.E(\S*) R(\d+)", text)
        touched = {int(number) for number in re.findall(r"\bR(\d+)", text)}
        for first in [first for first, (last, _) in pending.items() if any(first <= r <= last for r in touched)]:
            del pending[first]
        if load:
            width = re.search(r"\.(128|64|[US]16|[US]8)\b", load[1])
            size = int(width[1].lstrip("US")) // 8 if width else 4
            pending[int(load[2])] = (int(load[2]) + max(size // 4, 1) - 1, size)
            most = max(most, sum(size for _, size in pending.values()))
    return most


def read_flights(text):
    parts = re.split(r"Function : (\w+)", text)
    return {plain_name(name): bytes_in_flight(re.findall(r"/\*[0-9a-f]{4,}\*/\s+([^;]*);", body))
            for name, body in zip(parts[1::2], parts[2::2])}


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        text = " ".join(map(str, command))
        sys.exit(f"occupancy: '{text}' ended with status {done.returncode}\n{done.stderr[-2000:]}")
    return done


def measure(folder, arch, nvcc, cuobjdump):
    """A record of each kernel, in their order."""
    kernels = folder / "kernels.cuh"
    runtime = folder / "runtime"
    if not runtime.is_dir():
        runtime = pathlib.Path(__file__).resolve().parent.parent / "runtime"
    with tempfile.TemporaryDirectory(prefix="braid-occupancy-") as work:
        cubin = pathlib.Path(work) / "kernels.cubin"
        said = run([nvcc, "-std=c++20", "-O3", f"-arch={arch}", "-Xptxas", "-v", "-I", runtime, "-x", "cu", "-cubin",
                    "-o", cubin, kernels]).stderr
        flights = read_flights(run([cuobjdump, "-sass", cubin]).stdout) if cuobjdump else {}
    resources, prefetches = read_resources(said), read_prefetches(kernels.read_text())
    processors = GPUS[arch][0]
    records = []
    for name, (blocks, threads) in read_shapes(kernels.read_text()).items():
        registers, shared, spills = resources[name]
        held = resident_blocks(threads, registers, shared, arch)
        resident = threads * (held if blocks is None else min(held, blocks / processors))
        flight = flights[name] + prefetches.get(name, 0) if name in flights else None
        records.append({"kernel": name.removesuffix("_kernel"), "blocks": blocks, "threads": threads,
                        "registers": registers, "shared_bytes": shared, "spill_bytes": spills, "blocks_per_sm": held,
                        "occupancy": round(held * threads / (WARPS * WARP), 3),
                        "waves": None if blocks is None else round(blocks / (held * processors), 2),
                        "resident_threads": round(resident), "thread_bytes": flight,
                        "sm_kib": None if flight is None else round(resident * flight / 1024, 1)})
    return records


COLUMNS = [("blocks", "blocks"), ("threads", "threads"), ("registers", "regs"), ("shared_bytes", "smem"),
           ("spill_bytes", "spills"), ("blocks_per_sm", "blocks/SM"), ("occupancy", "occupancy"), ("waves", "waves"),
           ("resident_threads", "resident"), ("thread_bytes", "B/thread"), ("sm_kib", "KiB/SM")]


def print_table(records):
    width = max(len(record["kernel"]) for record in records)
    print(" ".join([f"{'kernel':{width}}", *(f"{title:>9}" for _, title in COLUMNS)]))
    for record in records:
        cells = ("-" if record[key] is None else record[key] for key, _ in COLUMNS)
        print(" ".join([f"{record['kernel']:{width}}", *(f"{cell:>9}" for cell in cells)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what braidc --target=cuda --emit=cu or dir wrote")
    parser.add_argument("--arch", default="sm_90", choices=GPUS, help="the GPU (sm_90)")
    toolkit = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or os.path.join(toolkit, "nvcc"))
    parser.add_argument("--cuobjdump", default=shutil.which("cuobjdump") or shutil.which("cuobjdump", path=toolkit),
                        help="of the toolkit; without one there are no bytes in flight")
    parser.add_argument("--json", action="store_true", help="a JSON line for each kernel instead of a table")
    args = parser.parse_args()
    if not (args.folder / "kernels.cuh").exists():
        sys.exit(f"occupancy: {args.folder} has no kernels.cuh; write it with braidc --target=cuda --emit=dir")
    records = measure(args.folder, args.arch, args.nvcc, args.cuobjdump)
    if args.json:
        for record in records:
            print(json.dumps(record))
    else:
        print_table(records)


if __name__ == "__main__":
    main()
