"""Prepares the programs of the step `wide`: their sources, data, and the results of the CPU target."""

import math
import random
import shutil
import struct
from dataclasses import replace

from . import programs, tensors, tokens, tolerances, tools, wide
from .emit import ROOT, Emitter

TOKENS = 20000
# Only the results of a twin matter, not its speed.
UNOPTIMIZED = ROOT / "test/cuda/Inputs/unoptimized-c++"


def write_documents(path, count, vocabulary):
    """Writes a token file of documents with 2 to 60 tokens."""
    source, starts = random.Random(1), [0]
    while (last := starts[-1] + source.randint(2, 60)) < count:
        starts.append(last)
    ids = tokens.generate(count, vocabulary)
    file = struct.pack("<8sIIQQQQIIQ", b"BRAIDTOK", 2, 2, count, vocabulary, len(starts), 0, 0, 0xffffffff, 0) + ids
    path.write_bytes(file.ljust(-(-len(file) // 8) * 8, b"\0") + struct.pack(f"<{len(starts)}Q", *starts))


class WideEmitter(Emitter):
    def __init__(self, emitter):
        self.__dict__.update(emitter.__dict__)
        self.twins, self.known = {}, {}

    def data(self, model, config):
        """Returns the name of the model's data, which is made once."""
        if model.data == "text":
            return "text"
        name = f"{model.data}-{config['vocab_size']}"
        path = self.place / "references/data" / name
        if not path.exists():
            {"tokens": tokens.write_tokens, "documents": write_documents}[model.data](path, TOKENS, config["vocab_size"])
        return name

    def model(self, name):
        """Writes the graph of a model and its data. Returns the figures from which tolerances follow."""
        if name not in self.known:
            its = wide.MODELS[name]
            if its.graph:
                self.known[name] = (ROOT / its.graph, {"data": self.data(its, None), "sums": [256], "tokens": 2048, "parameters": 65536})
                return self.known[name]
            config, (batch, seq) = its.config(self.rehearsal), its.shape(self.rehearsal)
            graph = self.place / "graphs" / f"wide-{name}.mlir"
            tools.run([self.bin / "braid-model", self.config(config), "--batch", batch, "--seq", seq, *its.words, "-o", graph])
            self.known[name] = graph, {"data": self.data(its, config), "sums": tolerances.forward_sums(config, seq), "tokens": batch * seq,
                                       "parameters": self.count(config)}
        return self.known[name]

    def split_sources(self, graph, program, words):
        """Marks each matmul with rows beyond a multiple for a second call, then compiles as usual."""
        one, two = (self.place / "graphs" / f"{program.name}-{number}.mlir" for number in (1, 2))
        self.compile(graph, f"cuda:{self.arch}", one, words, "memory")
        tools.run([self.bin / "braid-opt", one, "--exec-split-matmuls=least-work=1", "-o", two])
        if "exec.rows_apart" not in two.read_text():
            raise tools.Failed(f"{program.name} has no matmul whose rows need a second call")
        self.sources(two, program.name, [])

    def entry(self, program):
        graph, known = self.model(program.model)
        words = [f"--precision={program.precision}", *program.words]
        if program.split:
            self.split_sources(graph, program, words)
        else:
            self.sources(graph, program.name, [*words, *program.cuda, *([] if program.precision == "f32" else programs.FIXED)])
        reference = self.twin(program, graph, words, known)
        return {"name": program.name, "model": program.model, "precision": program.precision, "checks": program.checks, "run": program.run,
                "here": program.here,
                **known, **reference, **self.roundings(program, graph, known, reference), **self.state_rounding(program, graph, words, known, reference)}

    def roundings(self, program, graph, known, reference):
        """How far each gradient of a bf16 twin is from that in f32: where attention is almost uniform, differences of rounded
        numbers are most of the gradients of queries and keys."""
        if program.precision == "f32" or "gradients" not in program.checks:
            return {}
        exact = self.twin(replace(program, name=f"{program.name.removeprefix(wide.PREFIX)}-exact", precision="f32"), graph,
                          ["--precision=f32", *(word for word in program.words if not word.startswith("--grad-dtype"))], known)
        ours, theirs = (tensors.first_means(self.place / "references" / its["reference"] / "gradients") for its in (reference, exact))
        return {"roundings": {name: tensors.distance(ours[name], theirs[name]) for name in ours}}

    def state_rounding(self, program, graph, words, known, reference):
        """How far the losses of a f32 twin with a state of 8 bits move if it adds in another order, as the compiler's
        optimizations make it: elements of the state are then rounded to the other side."""
        if program.precision != "f32" or "--optimizer-state=int8" not in words:
            return {}
        other = self.twin(replace(program, name=f"{program.name.removeprefix(wide.PREFIX)}-optimized", checks=[]), graph, [*words, "--cc=c++"], known)
        ours, theirs = (tools.losses(self.place / "references" / its["reference"] / "metrics.jsonl") for its in (reference, other))
        return {"state_rounding": max(abs(a - b) for a, b in zip(ours, theirs))}

    def twin(self, program, graph, words, known):
        """Computes results of the CPU target, once for all programs with equal results: logs, first gradients, and text."""
        key = (program.model, *words, *program.run)
        if key not in self.twins:
            results = self.place / "references/wide" / program.name
            results.mkdir(parents=True)
            binary, saved = (self.place / "graphs" / f"{program.name}.{end}" for end in ("exe", "saved"))
            self.compile(graph, "cpu", binary, words if any(word.startswith("--cc=") for word in words) else [*words, f"--cc={UNOPTIMIZED}"], "exe")
            tools.run([binary, *wide.train_words(known["data"], program.run, self.place / "references/data"), "--threads", 1,
                       "--log", results / "metrics.jsonl", *wide.SAVES, saved])
            first = results / "gradients"
            first.mkdir()
            (saved / f"step-{1:08}.safetensors").rename(first / "whole.safetensors")
            means = tensors.first_means(first)
            (first / "whole.safetensors").unlink()
            tensors.write(first / "first.safetensors", {name + tensors.FIRST_MEAN: values for name, values in means.items()})
            if any(its.model == program.model and "tokens" in its.checks for its in wide.PROGRAMS):
                (results / "tokens").write_text(tools.run([binary, *wide.SAMPLE, "--checkpoint", saved, "--threads", 1]))
            shutil.rmtree(saved)
            if "gradients" not in program.checks:
                shutil.rmtree(first)
            self.twins[key] = {"reference": f"wide/{program.name}", "norm": norm_of(program, means)}
        return self.twins[key]


def norm_of(program, means):
    """Returns the limit of --clip, or else the norm in step 1, from Adam's first means, a tenth of the gradients."""
    clips = [float(word.removeprefix("--clip=")) for word in program.words if word.startswith("--clip=")]
    return clips[0] if clips else 10 * math.sqrt(math.fsum(value * value for values in means.values() for value in values))


def write(emitter, wanted):
    """Sources and references of the programs whose names match; returns their entries in the manifest."""
    its = WideEmitter(emitter)
    shutil.copytree(ROOT / "examples/finetune/model", its.place / "references/data/finetune")
    entries = []
    for program in filter(lambda program: wanted.search(program.name), wide.PROGRAMS):
        print(f"emit {program.name}", flush=True)
        entries.append(its.entry(program))
    return entries
