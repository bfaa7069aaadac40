#!/usr/bin/env python3
"""Lists the FLOPs, bytes and predicted seconds of each launch of an emitted CUDA program.

  roofline.py FOLDER --gpu=h200 [--program train] [--launches] [--json]

FOLDER is what braidc --target=cuda wrote (--emit=dir or cu).  Its actions.json has, for each action, the
FLOPs and bytes of the cost library (each operand once, and what attention keeps in memory between its
kernels), and its seconds on the GPU of the target's row: of GEMMs by the tables of lib/Cost, of attention by
published rates, of the rest by what GPUs are taken to reach of their data sheets.  Another GPU is taken to
reach the same share of its own:

  seconds = launch + max(matrix + vector, memory) + scratch

Scratch is what kernels of one call pass on through memory.  The bound of a launch is the largest of launch, computing
and memory.  A step is `train` after all microbatches but one of
`accumulate`; collectives, and copies from and to the host, count with the seconds that computing waits for them, as braidc has planned.  MFU
counts 6 operations a parameter and token, and 12 * width * sequence a token in each layer's attention
(PaLM, appendix B: no discount for the causal half) over the dense rate of the data sheet.
"""

import argparse
import collections
import json
import pathlib
import sys
from dataclasses import dataclass


@dataclass
class Gpu:
    name: str
    memory: float  # bytes per second
    bf16: float  # FLOPs per second: dense, of tensor cores with f32 sums
    f32: float  # of vector code
    source: str


# Rates of NVIDIA's data sheets; half of rates "with sparsity".
GPUS = {
    "a100": Gpu("A100 SXM 80 GB", 2.039e12, 312e12, 19.5e12, "A100 data sheet, 2021"),
    "a10": Gpu("A10", 600e9, 125e12, 31.2e12, "A10 data sheet, 2022"),
    "l40s": Gpu("L40S", 864e9, 366.5e12, 91.6e12, "L40S data sheet, 2023: 733 with sparsity"),
    "h100": Gpu("H100 SXM 80 GB", 3.35e12, 989e12, 67e12, "H100 data sheet, 2023: 1,979 with sparsity"),
    "h100-pcie": Gpu("H100 PCIe 80 GB", 2.0e12, 756e12, 51e12, "H100 data sheet, 2022: 1,513 with sparsity"),
    "h200": Gpu("H200 SXM 141 GB", 4.8e12, 989e12, 67e12, "H200 data sheet, 2024: 1,979 with sparsity"),
    "b200": Gpu("B200", 7.7e12, 2250e12, 75e12, "HGX B200 data sheet, 2025: an eighth of eight"),
}


def read(folder):
    path = folder / "actions.json"
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        sys.exit(f"roofline: {folder} has no actions.json; write it with braidc --target=cuda --emit=dir")
    except ValueError as error:
        sys.exit(f"roofline: {path} is no JSON: {error}")


class Launch:
    def __init__(self, action, card, gpu):
        self.action = action["action"]
        self.kind, self.phase, self.unit = action["kind"], action.get("phase", "-"), action.get("unit", "-")
        self.bytes = action.get("bytes_read", 0) + action.get("bytes_written", 0)
        self.flops = action.get("matrix_flops", 0) + action.get("vector_flops", 0)
        self.matrix_flops, self.masked_flops = action.get("matrix_flops", 0), action.get("masked_flops", 0)
        if self.kind in ("collective", "copy"):
            self.seconds, self.bound = action.get("exposed_s", 0.0), "link" if self.kind == "collective" else "host"
            return
        rate = "bf16" if action.get("type") == "bf16" else "f32"
        computing = (action["matrix_s"] * card[f"{rate}_flops"] / getattr(gpu, rate) +
                     action["vector_s"] * card["f32_flops"] / gpu.f32)
        moving, scratch = (action[f"{part}_s"] * card["bytes_per_second"] / gpu.memory for part in ("memory", "scratch"))
        parts = {"launch": action["launch_s"], "compute": computing, "memory": moving + scratch}
        self.seconds, self.bound = parts["launch"] + max(computing, moving) + scratch, max(parts, key=parts.get)


class Step:
    """The launches of a step, or of one program, and the sums of them."""

    def __init__(self, plan, gpu, program=None):
        self.plan, self.gpu = plan, gpu
        if program and program not in plan["programs"]:
            sys.exit(f"roofline: there is no program '{program}'; there are {', '.join(plan['programs'])}")
        times = {program: 1} if program else {"accumulate": plan["microbatches"] - 1, "train": 1}
        self.programs = {name: count for name, count in times.items() if count}
        card = plan["card"]
        self.launches = {name: [Launch(action, card, gpu) for action in plan["programs"][name]["actions"]] for name in self.programs}

    def all(self):
        """Returns each launch with its number of executions in a step."""
        return [(its, count) for name, count in self.programs.items() for its in self.launches[name]]

    def sum(self, key, which=lambda its: True):
        return sum(count * getattr(its, key) for its, count in self.all() if which(its))

    def count(self):
        return sum(count for _, count in self.all())

    def rows(self):
        """Returns the tokens of all ranks, or the rows of the batch if there are no tokens."""
        def of(inputs):
            if "tokens" in inputs:
                shape = inputs["tokens"]
                return shape[0] * shape[1]
            return max((shape[0] for shape in inputs.values() if shape), default=0)
        return sum(count * of(self.plan["programs"][name]["inputs"]) for name, count in self.programs.items())

    def unit_of_rows(self):
        return "tokens" if any("tokens" in self.plan["programs"][name]["inputs"] for name in self.programs) else "rows"

    def model_flops(self):
        """Returns the FLOPs of all ranks as MFU counts them: three times those of forward attention."""
        attention = sum(count * (its.matrix_flops + its.masked_flops) for its, count in self.all() if its.kind == "attention")
        return 6 * self.plan["parameters"] * self.rows() + 3 * attention * self.plan["ranks"]

    def mfu(self):
        return self.model_flops() / self.plan["ranks"] / self.sum("seconds") / self.gpu.bf16


def print_launches(step):
    print(f"{'#':>5} {'phase':9}{'unit':12}{'action':34}{'MB':>10}{'GFLOP':>10}{'us':>9}  bound")
    for name, launches in step.launches.items():
        print(f"{name}:")
        for number, its in enumerate(launches):
            print(f"{number:5} {its.phase:9}{its.unit[:11]:12}{its.action[:33]:34}{its.bytes / 1e6:10.2f}{its.flops / 1e9:10.2f}"
                  f"{its.seconds * 1e6:9.1f}  {its.bound}")


def print_json(step):
    for name, launches in step.launches.items():
        for number, its in enumerate(launches):
            print(json.dumps({"program": name, "number": number, "action": its.action, "phase": its.phase, "unit": its.unit,
                              "bytes": its.bytes, "flops": its.flops, "seconds": its.seconds, "bound": its.bound}))


def print_sums(step, title, key):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0.0])
    for its, count in step.all():
        its_sums = sums[key(its)]
        for i, value in enumerate((1, its.bytes, its.flops, its.seconds)):
            its_sums[i] += count * value
    print(f"{title:34}{'launches':>9}{'GB':>10}{'GFLOP':>11}{'ms':>9}")
    for name, (count, size, flops, seconds) in sums.items():
        print(f"{name[:33]:34}{count:9}{size / 1e9:10.3f}{flops / 1e9:11.1f}{seconds * 1e3:9.3f}")
    print()


def print_totals(step):
    seconds, gpu = step.sum("seconds"), step.gpu
    print(f"{step.count()} launches, {step.sum('bytes') / 1e9:.2f} GB, {step.sum('flops') / 1e12:.3f} TFLOP, "
          f"{seconds * 1e3:.2f} ms predicted on {gpu.name} ({gpu.memory / 1e12:.2f} TB/s, {gpu.bf16 / 1e12:.0f} bf16 TFLOP/s: {gpu.source})")
    for bound in ("compute", "memory", "launch", "link"):
        share = step.sum("seconds", lambda its: its.bound == bound)
        if share:
            print(f"  bound by {bound:8}{share * 1e3:9.2f} ms")
    rows = step.rows()
    if rows:
        print(f"{rows / seconds:,.0f} {step.unit_of_rows()}/s, MFU {step.mfu() * 100:.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="what braidc --target=cuda --emit=dir or cu wrote")
    parser.add_argument("--gpu", default="h200", choices=GPUS, help="the GPU (h200)")
    parser.add_argument("--program", help="one program (a step: train, and accumulate before it)")
    parser.add_argument("--launches", action="store_true", help="each launch, too")
    parser.add_argument("--json", action="store_true", help="a JSON line for each launch instead of tables")
    options = parser.parse_args()
    plan = read(options.folder)
    if "card" not in plan:
        sys.exit(f"roofline: {options.folder} is of the target {plan['target']}; it takes --target=cuda")
    step = Step(plan, GPUS[options.gpu], options.program)
    if options.json:
        return print_json(step)
    if options.launches:
        print_launches(step)
        print()
    print_sums(step, "unit", lambda its: f"{its.unit} {its.phase}")
    print_sums(step, "action", lambda its: its.action)
    print_totals(step)


if __name__ == "__main__":
    main()
