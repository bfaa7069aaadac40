"""Prepares a visit here: compiles the programs, computes the results of the CPU target, and packs everything."""

import hashlib
import json
import pathlib
import re
import shutil
import tempfile

from . import build, pack, peers, programs, tensors, tolerances, tools

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent

# File that marks a folder as one that this command may overwrite.
MARK = "emitted-by-gpu-visit"
# Upper limit, in bytes, of the files carried to the device machine, including the tracked files of the repository.
LIMIT, TRACKED = 55 << 20, 12 << 20


def clear(folder):
    """Makes the folder, or removes what an earlier emission wrote.  Refuses to touch another folder."""
    if folder.exists() and not folder.is_dir():
        raise tools.Failed(f"{folder} is a file: name a folder to write to")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / MARK).exists():
        raise tools.Failed(f"{folder} is not empty, and gpu-visit has not written it: name a new folder")
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (folder / MARK).write_text("`gpu-visit emit` writes this folder anew without asking: keep nothing of yours here.\n")


class Emitter:
    """Writes sources, data and references of programs below `place`."""

    def __init__(self, arguments, place):
        self.bin, self.arch, self.place, self.rehearsal = arguments.build / "bin", arguments.arch, place, arguments.rehearse
        self.models = programs.REHEARSAL_MODELS if arguments.rehearse else programs.MODELS
        self.references = set()
        if not (self.bin / "braidc").exists():
            raise tools.Failed(f"there is no {self.bin}/braidc: name the build folder with --build")
        for name in ("sources/programs", "references/data", "references/cpu", "graphs"):
            (place / name).mkdir(parents=True)

    def make_data(self):
        data = self.place / "references/data"
        tools.run(["python3", ROOT / "examples/mlp-by-hand/make_data.py", data / "mlp"])
        tools.write_atomically(data / "text", tools.run(["python3", ROOT / "test/binary/Inputs/text.py", 100000]))

    def config(self, config):
        """Writes a configuration for braid-model."""
        text = json.dumps(config)
        path = self.place / "graphs" / f"{hashlib.sha1(text.encode()).hexdigest()}.json"
        path.write_text(text)
        return path

    def graph(self, config, name, batch, seq):
        path = self.place / "graphs" / f"{name}.mlir"
        tools.run([self.bin / "braid-model", self.config(config), "--batch", batch, "--seq", seq, "-o", path])
        return path

    def count(self, config):
        """The number of parameters: the last number of braid-model's list."""
        listing = tools.run([self.bin / "braid-model", self.config(config), "--count"])
        return int(re.findall(r"[\d,]+", listing.strip().splitlines()[-1])[-1].replace(",", ""))

    def compile(self, graph, target, output, words, emit):
        tools.run([self.bin / "braidc", graph, f"--target={target}", f"--emit={emit}", "-o", output, *words])

    def sources(self, graph, name, words):
        """Writes a program's folder. All programs share one copy of the runtime."""
        place, shared = self.place / "sources/programs" / name, self.place / "sources/runtime"
        self.compile(graph, f"cuda:{self.arch}", place, words, "dir")
        if shared.exists():
            shutil.rmtree(place / "runtime")
        else:
            (place / "runtime").rename(shared)
        (place / "runtime").mkdir()
        (place / "runtime/CMakeLists.txt").write_text(build.SHARED_RUNTIME)
        lists = place / "CMakeLists.txt"
        # Targets of one build need names of their own: the binary `train`, and the library `step` beside it.
        text = re.sub(r"\btrain\b", name, lists.read_text())
        lists.write_text(re.sub(r"(?<![\w/])step(?![\w.])", f"{name}-step", text))

    def checked(self, program):
        model = self.models[program.model]
        graph = ROOT / model["graph"] if "graph" in model else self.graph(model["config"], program.name, model["batch"], model["seq"])
        self.sources(graph, program.name, [*program.words, f"--precision={program.precision}", f"--clip={programs.CLIP}"])
        self.reference(graph, program.model, program.precision)
        # The table of models has the figures of a graph written by hand.
        known = model if "graph" in model else {"sums": tolerances.forward_sums(model["config"], model["seq"]),
                                                "tokens": model["batch"] * model["seq"], "parameters": self.count(model["config"])}
        return {"name": program.name, "model": program.model, "precision": program.precision, "data": model["data"],
                "checks": program.checks, **{key: known[key] for key in ("sums", "tokens", "parameters")}}

    def needs_checkpoint(self, model):
        return any("resumes" in program.checks for program in programs.CHECKED if program.model == model)

    def reference(self, graph, model, precision):
        """Results of the CPU target for all programs of a model and a precision: losses, the gradients of step 1, and,
        for programs that resume, a checkpoint after half of the steps and the losses that follow on it. The checkpoint
        is from f32; bf16 programs can read it, too."""
        if (model, precision) in self.references:
            return
        if precision != "f32":
            self.reference(graph, model, "f32")
        results, checkpoint = self.place / "references/cpu" / f"{model}-{precision}", self.place / "references/cpu" / model / "checkpoint"
        results.mkdir()
        twin = self.place / "graphs" / f"{model}-{precision}.exe"
        self.compile(graph, "cpu", twin, [f"--precision={precision}", f"--clip={programs.CLIP}"], "exe")
        train = [twin, "train", "--data", self.place / "references/data" / self.models[model]["data"], "--threads", 1,
                 *programs.TRAIN]
        tools.run([*train, "--steps", programs.STEPS, "--log", results / "metrics.jsonl"])
        first = self.place / "graphs" / f"{model}-{precision}.first"
        tools.run([*train, "--steps", 1, "--checkpoint", first])
        (results / "gradients").mkdir()
        tensors.write(results / "gradients/first.safetensors",
                      {name + tensors.FIRST_MEAN: values for name, values in tensors.first_means(first).items()})
        if self.needs_checkpoint(model):
            if precision == "f32":
                checkpoint.parent.mkdir()
                tools.run([*train, "--steps", programs.STEPS // 2, "--checkpoint", checkpoint])
            copy = self.place / "graphs" / f"{model}-{precision}.checkpoint"
            shutil.copytree(checkpoint, copy)
            tools.run([*train, "--steps", programs.STEPS, "--log", results / "resumed.jsonl", "--checkpoint", copy, "--resume"])
        self.references.add((model, precision))

    def is_same(self, name, other):
        """Returns whether two programs of the same graph have the same sources."""
        one, two = (self.place / "sources/programs" / its for its in (name, other))
        return all((one / file).read_text() == (two / file).read_text() for file in ("step.cu", "kernels.cuh", "model.cpp"))

    def speed(self, program, earlier):
        """Returns the entry in the manifest; None if the program equals an earlier one, such as its own default."""
        self.sources(self.graph(program.config, program.variant_of or program.name, program.batch, program.seq), program.name,
                     ["--precision=bf16", f"--clip={programs.CLIP}", *program.words])
        if same := next((other for other in earlier if self.is_same(program.name, other)), None):
            shutil.rmtree(self.place / "sources/programs" / program.name)
            print(f"{program.name} is {same}", flush=True)
            return None
        return {"name": program.name, "batch": program.batch, "seq": program.seq, **shape_of(program.config),
                "parameters": self.count(program.config), "variant_of": program.variant_of}


def shape_of(config):
    """The sizes of a model, by the same names for each family."""
    keys = {"layers": "n_layer", "heads": "n_head", "width": "n_embd"}
    if config["model_type"] == "llama":
        keys = {"layers": "num_hidden_layers", "heads": "num_attention_heads", "width": "hidden_size",
                "kv_heads": "num_key_value_heads", "inner": "intermediate_size"}
    return {"model": config["model_type"], "vocabulary": config["vocab_size"], **{name: config[key] for name, key in keys.items()}}


def write_programs(arguments, place):
    """Sources and references of all programs; returns the manifest."""
    from . import wide_emit  # which is an Emitter, too

    emitter, wanted = Emitter(arguments, place), re.compile(arguments.only)
    emitter.make_data()
    manifest = {"arch": arguments.arch, "rehearsal": arguments.rehearse, "programs": [], "wide": [], "speed": []}
    for program in filter(lambda program: wanted.search(program.name), programs.CHECKED):
        print(f"emit {program.name}", flush=True)
        manifest["programs"].append(emitter.checked(program))
    for program in filter(lambda program: wanted.search(program.name), programs.REHEARSAL if arguments.rehearse else programs.SPEED):
        print(f"emit {program.name}", flush=True)
        if entry := emitter.speed(program, [its["name"] for its in manifest["speed"]]):
            manifest["speed"].append(entry)
    if arguments.wide:
        manifest["wide"] = wide_emit.write(emitter, wanted)
    if not any(manifest[kind] for kind in KINDS):
        raise tools.Failed(f"no program's name matches '{arguments.only}'")
    return manifest


# Lists of programs in the manifest.
KINDS = ("programs", "wide", "speed")


def plans_of(manifest, sources):
    """Writes braidc's predictions for the actions of the measured programs; `explain` needs them."""
    return {entry["name"]: json.loads((sources / "programs" / entry["name"] / "actions.json").read_text()) for entry in manifest["speed"]}


def kernels_of(sources):
    """The names of the kernels of generated code and of the runtime, which the sanitizer looks at."""
    paths = [path for pattern in ("programs/*/*.cuh", "runtime/cuda/*.h") for path in sources.glob(pattern)]
    return sorted({name for path in paths for name in re.findall(r"\b(\w+_kernel)\(", path.read_text())})


def main(arguments):
    folder = arguments.folder.resolve()
    clear(folder)
    with tempfile.TemporaryDirectory(prefix="braid-gpu-visit-") as scratch:
        place = pathlib.Path(scratch)
        manifest = write_programs(arguments, place)
        build.write_together(place / "sources", arguments.arch)
        build.carry_frontend(place / "sources", arguments.rehearse)
        names = [entry["name"] for kind in KINDS for entry in manifest[kind] if not re.search(arguments.there, entry["name"])]
        binaries = place / "binaries"
        build.build_here(arguments, place / "sources", names, binaries)
        if arguments.llmc:
            peers.build_llmc(arguments, place / "sources", binaries)
        manifest["kernels"] = kernels_of(place / "sources")
        (place / "references/plans.json").write_text(json.dumps(plans_of(manifest, place / "sources")))
        for name in ("binaries", "sources", "references"):
            pack.pack(place / name, folder / f"{name}.tar.xz")
    shutil.copy2(ROOT / "scripts/gpu-visit", folder / "gpu-visit")
    for package in (HERE, HERE.with_name("equivalence")):  # whose reader of checkpoints is asked
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    tools.write_atomically(folder / "manifest.json", json.dumps(manifest, indent=1))
    return tell_size(folder)


def tell_size(folder):
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 2**20:.1f} MiB to carry, of {(LIMIT - TRACKED) / 2**20:.0f} beside the repository; "
          f"on the device machine: {folder}/gpu-visit run {folder}", flush=True)
    if size > LIMIT - TRACKED:
        raise tools.Failed(f"{size / 2**20:.1f} MiB are more than {(LIMIT - TRACKED) / 2**20:.0f}: leave out programs with --only, or --llmc")
    return 0
