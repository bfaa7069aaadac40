"""Writes the folder: programs, data, and what the CPU target computed."""

import json
import os
import pathlib
import re
import shutil
import sysconfig

from . import build, kernels, programs, tools

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# What is written anew each time, and the file by which a folder is known as one of these.
PARTS = ("programs", "data", "cpu", "graphs", "runtime", "cudnn-frontend")
MARK = "emitted-by-gpu-check"


def clear(folder):
    """Makes the folder, or takes away what an earlier emission wrote; what is not ours is not touched."""
    if folder.exists() and not folder.is_dir():
        raise tools.Failed(f"{folder} is a file: name a folder to write to")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / MARK).exists():
        raise tools.Failed(f"{folder} is not empty, and gpu-check has not written it: name a new folder")
    (folder / MARK).write_text("`gpu-check emit` writes this folder anew without asking: keep nothing of yours here.\n")
    (folder / "manifest.json").unlink(missing_ok=True)
    for name in PARTS:
        if (folder / name).exists():
            shutil.rmtree(folder / name)


class Emitter:
    def __init__(self, arguments, folder):
        self.bin = arguments.build / "bin"
        self.arch = arguments.arch
        # Words of braidc for all programs of the GPU.
        self.words = ["--attention=decompose"] if arguments.without_cudnn else []
        self.memory = programs.REHEARSAL_MEMORY if arguments.rehearse else arguments.memory
        self.folder = folder
        self.references = {}
        if not (self.bin / "braidc").exists():
            raise tools.Failed(f"there is no {self.bin}/braidc: name the build folder with --build")
        self.frontend = None if arguments.without_cudnn else find_frontend()
        if not self.frontend and not arguments.without_cudnn:
            raise tools.Failed("cudnn_frontend.h was not found, without which attention of bf16 programs cannot be compiled: run "
                               "scripts/setup-cuda, or name its folder by CUDNN_FRONTEND_INCLUDE_DIR, or decompose attention by "
                               "--without-cudnn")
        clear(folder)
        for name in ("programs", "data", "cpu", "graphs"):
            (folder / name).mkdir()

    def make_data(self):
        tools.run(["python3", ROOT / "examples/mlp-by-hand/make_data.py", self.folder / "data/mlp"])
        text = tools.run(["python3", ROOT / "test/binary/Inputs/text.py", 100000])
        tools.write_atomically(self.folder / "data/text", text)

    def model_words(self, model, name):
        """How braid-model is told of a model."""
        if "preset" in model:
            return [f"--preset={model['preset']}"]
        config = self.folder / "graphs" / f"{name}.config.json"
        config.write_text(json.dumps(model["config"]))
        return [config]

    def graph(self, model, name, batch=None):
        if "graph" in model:
            return ROOT / model["graph"]
        path = self.folder / "graphs" / f"{name}.mlir"
        tools.run([self.bin / "braid-model", *self.model_words(model, name), "--batch", batch or model["batch"],
                   "--seq", model["seq"], "-o", path])
        return path

    def compile(self, graph, target, output, words, emit):
        tools.run([self.bin / "braidc", graph, f"--target={target}", f"--emit={emit}", "-o", output, *words])

    def sources(self, graph, name, words):
        """A program's folder; the runtime is there once, for all."""
        place, shared = self.folder / "programs" / name, self.folder / "runtime"
        self.compile(graph, f"cuda:{self.arch}", place, [*words, *self.words], "dir")
        if shared.exists():
            shutil.rmtree(place / "runtime")
        else:
            (place / "runtime").rename(shared)
        (place / "runtime").mkdir()
        (place / "runtime/CMakeLists.txt").write_text(build.SHARED_RUNTIME)
        lists = place / "CMakeLists.txt"
        lists.write_text(re.sub(r"\btrain\b", name, lists.read_text()))

    def checked(self, program):
        model = programs.MODELS[program.model]
        graph = self.graph(model, program.name)
        self.sources(graph, program.name, [*program.words, f"--precision={program.precision}", "--clip=1.0"])
        self.reference(graph, program.model, program.precision)
        return {"name": program.name, "model": program.model, "ranks": program.ranks, "precision": program.precision,
                "data": model["data"], "steps": programs.STEPS}

    def reference(self, graph, model, precision):
        """What one rank of the CPU target computes, for all strategies: losses, a checkpoint of the first half
        (of f32, which is a checkpoint of bf16, too), and the losses that follow on it."""
        if (model, precision) in self.references:
            return
        results, checkpoint = self.folder / "cpu" / f"{model}-{precision}", self.folder / "cpu" / model / "checkpoint"
        results.mkdir(exist_ok=True)
        twin = self.folder / "graphs" / f"{model}-{precision}.exe"
        self.compile(graph, "cpu", twin, [f"--precision={precision}", "--clip=1.0"], "exe")
        train = [twin, "train", "--data", self.folder / "data" / programs.MODELS[model]["data"], "--threads", 1,
                 *programs.TRAIN]
        if not checkpoint.exists():
            if precision != "f32":
                self.reference(graph, model, "f32")
            else:
                checkpoint.parent.mkdir(exist_ok=True)
                tools.run([*train, "--steps", programs.STEPS // 2, "--checkpoint", checkpoint])
        tools.run([*train, "--steps", programs.STEPS, "--log", results / "metrics.jsonl"])
        copy = self.folder / "graphs" / f"{model}-{precision}.checkpoint"
        shutil.copytree(checkpoint, copy)
        tools.run([*train, "--steps", programs.STEPS, "--log", results / "resumed.jsonl", "--checkpoint", copy, "--resume"])
        self.references[model, precision] = True

    def largest_batch(self, model, name):
        """By the planner: the largest multiple of 4 whose arena the memory holds."""
        def fits(batch):
            try:
                self.compile(self.graph(model, name, batch), f"cuda:{self.arch}", self.folder / "graphs/plan.mlir",
                             ["--precision=bf16", "--clip=1.0", f"--memory-limit={self.memory}", *self.words], "memory")
                return True
            except tools.Failed as error:
                if "but the memory limit is" not in error.printed:
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
        self.sources(graph, name, ["--precision=bf16", "--clip=1.0"])
        plan = self.folder / "graphs" / f"{name}.memory.mlir"
        self.compile(graph, f"cuda:{self.arch}", plan, ["--precision=bf16", "--clip=1.0", *self.words], "memory")
        shape = {key: model[key] for key in ("seq", "layers", "heads", "width", "vocabulary")}
        return {"name": name, "batch": batch, "memory": in_bytes(self.memory), **shape,
                "actions": kernels.list_actions(plan, ROOT / "test/cuda"),
                "parameters": count_of(tools.run([self.bin / "braid-model", *self.model_words(model, name), "--count"]))}


def count_of(listing):
    """The last number of braid-model's list of parameters."""
    return int(re.findall(r"[\d,]+", listing.strip().splitlines()[-1])[-1].replace(",", ""))


def in_bytes(memory):
    """What braidc reads as a limit: 64GiB, 64G, 500MB, 500000."""
    number, prefix, unit = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)((?:i?b)?)\s*", memory.lower()).groups()
    return int(float(number) * (1000 if unit == "b" else 1024) ** ["", *"kmgt"].index(prefix))


def find_frontend():
    """The folder of cudnn_frontend.h, header files of a Python package that GPU machines often lack; None without one."""
    places = [os.environ.get("CUDNN_FRONTEND_INCLUDE_DIR"), *(os.environ.get(key, "") + "/include" for key in ("CUDA_HOME", "CUDA_PATH")),
              "/usr/local/cuda/include", "/usr/include", ROOT / "build/cudnn-frontend/include", ROOT / "build/cuda/include",
              sysconfig.get_path("purelib") + "/include"]
    return next((pathlib.Path(place) for place in filter(None, places) if (pathlib.Path(place) / "cudnn_frontend.h").exists()), None)


def carry_frontend(source, folder):
    to = folder / "cudnn-frontend"
    to.mkdir()
    for path in source.glob("cudnn_frontend*"):
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, to / path.name)


def main(arguments, folder):
    folder = folder.resolve()
    emitter = Emitter(arguments, folder)
    emitter.make_data()
    wanted = re.compile(arguments.only)
    manifest = {"arch": arguments.arch, "rehearsal": arguments.rehearse, "programs": [], "speed": []}
    for program in programs.checked_programs():
        if wanted.search(program.name):
            print(f"emit {program.name}", flush=True)
            manifest["programs"].append(emitter.checked(program))
    speed = programs.REHEARSAL if arguments.rehearse else programs.SPEED
    for name, model in ({} if arguments.no_speed else speed).items():
        if wanted.search(name):
            print(f"emit {name}", flush=True)
            manifest["speed"].append(emitter.speed(name, model))
    if not manifest["programs"] and not manifest["speed"]:
        raise tools.Failed(f"no program's name matches '{arguments.only}'")
    shutil.rmtree(folder / "graphs")
    if emitter.frontend:
        carry_frontend(emitter.frontend, folder)
    (folder / "CMakeLists.txt").write_text(build.TOGETHER.format(arch=arguments.arch.removeprefix("sm_")))
    scripts = pathlib.Path(__file__).resolve().parent
    shutil.copy2(scripts.parent / "gpu-check", folder / "gpu-check")
    shutil.copytree(scripts, folder / "gpu_check", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    tools.write_atomically(folder / "manifest.json", json.dumps(manifest, indent=1))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 2**20:.1f} MiB, for {folder}/gpu-check run {folder}", flush=True)
    return 0
