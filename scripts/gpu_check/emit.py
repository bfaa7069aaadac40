"""Writes the folder: programs, data, and what the CPU target computed."""

import json
import pathlib
import re
import shutil

from . import kernels, programs, tools

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Emitter:
    def __init__(self, arguments, folder):
        self.bin = arguments.build / "bin"
        self.arch, self.memory = arguments.arch, arguments.memory
        self.folder = folder
        for name in ("programs", "data", "cpu", "graphs"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def make_data(self):
        tools.run(["python3", ROOT / "examples/mlp-by-hand/make_data.py", self.folder / "data/mlp"])
        text = tools.run(["python3", ROOT / "test/binary/Inputs/text.py", 100000])
        tools.write_atomically(self.folder / "data/text", text)

    def graph(self, model, name, batch=None):
        if "graph" in model:
            return ROOT / model["graph"]
        path = self.folder / "graphs" / f"{name}.mlir"
        tools.run([self.bin / "braid-model", f"--preset={model['preset']}", "--batch", batch or model["batch"],
                   "--seq", model["seq"], "-o", path])
        return path

    def compile(self, graph, target, output, words, emit):
        tools.run([self.bin / "braidc", graph, f"--target={target}", f"--emit={emit}", "-o", output, *words])

    def checked(self, program):
        """The program's folder, and the losses and a checkpoint of its CPU twin."""
        graph = self.graph(program.model, program.name)
        words = [*program.words, f"--precision={program.precision}", "--clip=1.0"]
        self.compile(graph, f"cuda:{self.arch}", self.folder / "programs" / program.name, words, "dir")
        twin, results = self.folder / "cpu" / f"{program.name}.exe", self.folder / "cpu" / program.name
        results.mkdir(exist_ok=True)
        self.compile(graph, "cpu", twin, words, "exe")
        train = [twin, "train", "--data", self.folder / "data" / program.model["data"], "--threads", 1,
                 "--log", results / "metrics.jsonl", *programs.TRAIN]
        half = programs.STEPS // 2
        tools.run([*train, "--steps", half, "--checkpoint", results / "checkpoint"])
        # The GPU goes on from the first half, the CPU without a break.
        tools.run([*train, "--steps", programs.STEPS])
        twin.unlink()
        return {"name": program.name, "ranks": program.ranks, "precision": program.precision,
                "data": program.model["data"], "steps": programs.STEPS}

    def largest_batch(self, model, name):
        """By the planner: the largest multiple of 4 whose arena the memory holds."""
        def fits(batch):
            try:
                self.compile(self.graph(model, name, batch), "cuda", self.folder / "graphs/plan.mlir",
                             ["--precision=bf16", f"--memory-limit={self.memory}"], "memory")
                return True
            except tools.Failed as error:
                if "memory" not in str(error):
                    raise
                return False

        low, high = 0, 4
        while fits(high):
            low, high = high, high * 2
        while high - low > 4:
            middle = (low + high) // 8 * 4
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def speed(self, name, model):
        batch = self.largest_batch(model, name)
        if not batch:
            raise tools.Failed(f"{name}: no batch fits {self.memory}")
        graph = self.graph(model, name, batch)
        self.compile(graph, f"cuda:{self.arch}", self.folder / "programs" / name, ["--precision=bf16", "--clip=1.0"], "dir")
        plan = self.folder / "graphs" / f"{name}.memory.mlir"
        self.compile(graph, "cuda", plan, ["--precision=bf16", "--clip=1.0"], "memory")
        return {"name": name, "batch": batch, "seq": model["seq"], "preset": model["preset"],
                "actions": kernels.list_actions(plan, ROOT / "test/cuda"),
                "parameters": count_of(tools.run([self.bin / "braid-model", f"--preset={model['preset']}", "--count"]))}


def count_of(listing):
    """The last number of braid-model's list of parameters."""
    return int(re.findall(r"[\d,]+", listing.strip().splitlines()[-1])[-1].replace(",", ""))


def main(arguments, folder):
    emitter = Emitter(arguments, folder.resolve())
    emitter.make_data()
    wanted = re.compile(arguments.only)
    manifest = {"arch": arguments.arch, "programs": [], "speed": []}
    for program in programs.checked_programs():
        if wanted.search(program.name):
            print(f"emit {program.name}", flush=True)
            manifest["programs"].append(emitter.checked(program))
    for name, model in ({} if arguments.no_speed else programs.SPEED).items():
        if wanted.search(name):
            print(f"emit {name}", flush=True)
            manifest["speed"].append(emitter.speed(name, model))
    if not manifest["programs"] and not manifest["speed"]:
        raise SystemExit(f"gpu-check: no program's name matches '{arguments.only}'")
    shutil.rmtree(folder / "graphs")
    scripts = pathlib.Path(__file__).resolve().parent
    shutil.copy2(scripts.parent / "gpu-check", folder / "gpu-check")
    shutil.copytree(scripts, folder / "gpu_check", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    tools.write_atomically(folder / "manifest.json", json.dumps(manifest, indent=1))
    return 0
