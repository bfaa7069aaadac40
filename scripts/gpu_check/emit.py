"""Writes the folder: programs, data, and what the CPU target computed."""

import json
import os
import pathlib
import re
import shutil
import sysconfig

from . import build, programs, tensors, tolerances, tools

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


# What braidc says of a batch that is too large: for the memory, or for a library's numbers.
TOO_LARGE = ("but the memory limit is", "and the library counts to")


class Emitter:
    def __init__(self, arguments, folder):
        self.bin = arguments.build / "bin"
        self.arch = arguments.arch
        # Words of braidc for all programs of the GPU.
        self.without_cudnn = arguments.without_cudnn
        self.memory = programs.REHEARSAL_MEMORY if arguments.rehearse else arguments.memory
        self.folder = folder
        self.references = {}
        if not (self.bin / "braidc").exists():
            raise tools.Failed(f"there is no {self.bin}/braidc: name the build folder with --build")
        self.frontend = None if arguments.without_cudnn else find_frontend()
        if not self.frontend and not arguments.without_cudnn:
            raise tools.Failed("cudnn_frontend.h was not found, without which attention of bf16 programs cannot be compiled: run "
                               "scripts/setup-cuda, or name its folder by CUDNN_FRONTEND_INCLUDE_DIR, or compute it by tiles, with "
                               "--without-cudnn")
        clear(folder)
        for name in ("programs", "data", "cpu", "graphs"):
            (folder / name).mkdir()

    def make_data(self):
        tools.run(["python3", ROOT / "examples/mlp-by-hand/make_data.py", self.folder / "data/mlp"])
        text = tools.run(["python3", ROOT / "test/binary/Inputs/text.py", 100000])
        tools.write_atomically(self.folder / "data/text", text)

    def config(self, config):
        """A file that braid-model takes."""
        path = self.folder / "graphs/config.json"
        path.write_text(json.dumps(config))
        return path

    def graph(self, config, name, batch, seq):
        path = self.folder / "graphs" / f"{name}.mlir"
        tools.run([self.bin / "braid-model", self.config(config), "--batch", batch, "--seq", seq, "-o", path])
        return path

    def count(self, config):
        return count_of(tools.run([self.bin / "braid-model", self.config(config), "--count"]))

    def words(self, words):
        """Those of braidc for the GPU; without cuDNN there is no order of its sums to choose."""
        if not self.without_cudnn:
            return words
        kept = [word for word in words if not word.startswith("--attention-order")]
        return kept if "--attention=decompose" in kept else [*kept, "--attention=tiles"]

    def compile(self, graph, target, output, words, emit):
        tools.run([self.bin / "braidc", graph, f"--target={target}", f"--emit={emit}", "-o", output, *words])

    def sources(self, graph, name, words):
        """A program's folder; the runtime is there once, for all."""
        place, shared = self.folder / "programs" / name, self.folder / "runtime"
        self.compile(graph, f"cuda:{self.arch}", place, self.words(words), "dir")
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
        graph = ROOT / model["graph"] if "graph" in model else self.graph(model["config"], program.name, model["batch"], model["seq"])
        words = [*program.words, f"--precision={program.precision}", f"--clip={programs.CLIP}"]
        self.sources(graph, program.name, words)
        self.reference(graph, program.model, program.precision)
        # Of a graph by hand, the table of models says it.
        known = model if "graph" in model else {"sums": tolerances.forward_sums(model["config"], model["seq"]),
                                                "tokens": model["batch"] * model["seq"], "parameters": self.count(model["config"])}
        return {"name": program.name, "model": program.model, "ranks": program.ranks, "precision": program.precision,
                "data": model["data"], "steps": programs.STEPS, "checks": program.checks,
                **{key: known[key] for key in ("sums", "tokens", "parameters")}}

    def reference(self, graph, model, precision):
        """What one rank of the CPU target computes, for all strategies: losses, the gradients of step 1, a checkpoint
        of the first half (of f32, which is a checkpoint of bf16, too), and the losses that follow on it."""
        if (model, precision) in self.references:
            return
        results, checkpoint = self.folder / "cpu" / f"{model}-{precision}", self.folder / "cpu" / model / "checkpoint"
        results.mkdir(exist_ok=True)
        twin = self.folder / "graphs" / f"{model}-{precision}.exe"
        self.compile(graph, "cpu", twin, [f"--precision={precision}", f"--clip={programs.CLIP}"], "exe")
        train = [twin, "train", "--data", self.folder / "data" / programs.MODELS[model]["data"], "--threads", 1,
                 *programs.TRAIN]
        if not checkpoint.exists():
            if precision != "f32":
                self.reference(graph, model, "f32")
            else:
                checkpoint.parent.mkdir(exist_ok=True)
                tools.run([*train, "--steps", programs.STEPS // 2, "--checkpoint", checkpoint])
        tools.run([*train, "--steps", programs.STEPS, "--log", results / "metrics.jsonl"])
        first = self.folder / "graphs" / f"{model}-{precision}.first"
        tools.run([*train, "--steps", 1, "--checkpoint", first])
        (results / "gradients").mkdir()
        tensors.write(results / "gradients/first.safetensors",
                      {name + tensors.FIRST_MEAN: values for name, values in tensors.first_means(first).items()})
        copy = self.folder / "graphs" / f"{model}-{precision}.checkpoint"
        shutil.copytree(checkpoint, copy)
        tools.run([*train, "--steps", programs.STEPS, "--log", results / "resumed.jsonl", "--checkpoint", copy, "--resume"])
        self.references[model, precision] = True

    def words_of(self, program):
        return ["--precision=bf16", f"--clip={programs.CLIP}", *program.words]

    def largest_batch(self, program):
        """By the planner: the largest multiple of 4 whose arena the memory holds without recomputation, which peers do not have."""
        def fits(batch):
            try:
                self.compile(self.graph(program.config, program.name, batch, program.seq), f"cuda:{self.arch}",
                             self.folder / "graphs/plan.mlir", self.words([*self.words_of(program), "--recompute=none", f"--memory-limit={self.memory}"]), "memory")
                return True
            except tools.Failed as error:
                if not any(reason in error.printed for reason in TOO_LARGE):
                    raise
                return False

        low, high = 0, 4
        while fits(high):
            low, high = high, high * 2
        while high - low > 4:
            middle = (low + high) // 8 * 4
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def are_same(self, name, other):
        """Whether two programs are compiled to the same sources, but for their names."""
        one, two = (self.folder / "programs" / its for its in (name, other))
        return two.exists() and all((one / file).read_text().replace(name, other) == (two / file).read_text()
                                    for file in ("step.cu", "kernels.cuh", "model.cpp"))

    def speed(self, program):
        batch = program.batch or self.largest_batch(program)
        if not batch:
            raise tools.Failed(f"{program.name}: no batch fits {self.memory}")
        self.sources(self.graph(program.config, program.name, batch, program.seq), program.name, self.words_of(program))
        if program.variant_of and self.are_same(program.name, program.variant_of):
            shutil.rmtree(self.folder / "programs" / program.name)
            return None
        return {"name": program.name, "batch": batch, "seq": program.seq, **shape_of(program.config),
                "parameters": self.count(program.config), "measures": program.measures, "peers": program.peers,
                "rounds": program.rounds, "instead_of": program.instead_of}


def shape_of(config):
    """By names of our own, whichever model it is."""
    keys = {"layers": "n_layer", "heads": "n_head", "width": "n_embd"}
    if config["model_type"] == "llama":
        keys = {"layers": "num_hidden_layers", "heads": "num_attention_heads", "width": "hidden_size",
                "kv_heads": "num_key_value_heads", "inner": "intermediate_size"}
    return {"model": config["model_type"], "vocabulary": config["vocab_size"], **{name: config[key] for name, key in keys.items()}}


def count_of(listing):
    """The last number of braid-model's list of parameters."""
    return int(re.findall(r"[\d,]+", listing.strip().splitlines()[-1])[-1].replace(",", ""))


def find_frontend():
    """The folder of cudnn_frontend.h, header files of a Python package that GPU machines often lack; None without one."""
    places = [os.environ.get("CUDNN_FRONTEND_INCLUDE_DIR"), *(os.environ.get(key, "") + "/include" for key in ("CUDA_HOME", "CUDA_PATH")),
              "/usr/local/cuda/include", "/usr/include", ROOT / "build/cudnn-frontend/include", ROOT / "build/cuda/include",
              sysconfig.get_path("purelib") + "/include"]
    return next((pathlib.Path(place) for place in filter(None, places) if (pathlib.Path(place) / "cudnn_frontend.h").exists()), None)


def carry_frontend(source, folder):
    """Copies the whole frontend: what bears its name, and the headers that those include from beside them.  The
    include folder of a toolkit holds other packages, too.  Headers name the folder as the package does: include."""
    to = folder / "cudnn-frontend/include"
    to.mkdir(parents=True)
    left = list(source.glob("cudnn_frontend*"))
    while left:
        path = left.pop()
        (shutil.copytree if path.is_dir() else shutil.copy2)(path, to / path.name)
        texts = [file.read_text(errors="replace") for file in ([path] if path.is_file() else path.rglob("*.h"))]
        names = {name for text in texts for name in re.findall(r'^\s*#\s*include\s+"(?:\.\./)*([^"/]+)"', text, re.MULTILINE)}
        left += [source / name for name in names
                 if (source / name).exists() and not (to / name).exists() and source / name not in left]


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
    for program in [] if arguments.no_speed else programs.REHEARSAL if arguments.rehearse else programs.SPEED:
        if wanted.search(program.name):
            print(f"emit {program.name}", flush=True)
            if entry := emitter.speed(program):
                manifest["speed"].append(entry)
            else:
                print(f"{program.name} is {program.variant_of}", flush=True)
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
