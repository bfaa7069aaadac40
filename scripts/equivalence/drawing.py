"""Draws random models and options: families, sizes, mesh axes and further options, whether they fit together or not.

A seed draws one model and its options. Sizes are often 1, prime or no multiple of 4. Nineteen draws of twenty keep the
plain rules of docs/Parallelism.md, such as batches that ranks divide; the others test refusals.
"""

import collections
import json
import math
import random
import re
import shutil

from . import command, programs
from .check import Check
from .differences import Incomparable

WINDOW = {"sliding_window": 3, "use_sliding_window": True, "max_window_layers": 1}
EXPERTS = {"num_experts_per_tok": 2, "output_router_logits": True, "router_aux_loss_coef": 0.05}
FAMILIES = {
    "gpt2": {}, "llama": {"attention_bias": True}, "mistral": {"sliding_window": 3}, "qwen2": WINDOW,
    "qwen3": {"head_dim": 6}, "mixtral": EXPERTS, "qwen2_moe": {**EXPERTS, **WINDOW, "router_z_loss_coef": 0.01},
    "qwen3_moe": {"num_experts_per_tok": 2},
    "gemma2": {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 12},
    "gemma3_text": {"head_dim": 8, "sliding_window": 3, "sliding_window_pattern": 2, "query_pre_attn_scalar": 12},
    "gpt_neox": {"rotary_pct": 0.5}, "phi": {"partial_rotary_factor": 0.5},
}
OF_ONE_KIND_OF_HEAD = ("gpt2", "gpt_neox")
AXES = ("dp", "tp", "cp", "pp", "ep")
MOST_RANKS = 6


class Draw:
    """A configuration, the options of braid-model and those of braidc, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.family = self.choose(list(FAMILIES))
        self.has_experts = self.family.endswith("moe") or self.family == "mixtral"
        self.keeps_rules = self.happens(0.95)
        self.mesh = self.draw_mesh()
        self.accumulate = self.choose([2, 3, 4]) if self.mesh.get("pp", 1) > 1 else self.choose([1, 1, 1, 2, 3])
        ranks = self.draw_ranks()
        self.config = self.draw_config(ranks)
        self.for_model = self.draw_shape(ranks)
        self.for_compiler = ranks + self.draw_others()

    def choose(self, values):
        return self.random.choice(values)

    def happens(self, chance):
        return self.random.random() < chance

    def maybe(self, chance, *options):
        return [self.choose(options)] if options and self.happens(chance) else []

    def allowed(self, condition, *options):
        """Returns these options; none if a rule forbids them."""
        return options if condition or not self.keeps_rules else ()

    def fitting(self, sizes, divisor):
        """Returns one of these sizes, or the next multiple of the divisor."""
        size = self.choose(sizes)
        return -(-size // divisor) * divisor if self.keeps_rules else size

    def draw_mesh(self):
        axes = [axis for axis in AXES if axis != "ep" or self.has_experts or self.happens(0.05)]
        axes = self.random.sample(axes, self.choose([0, 1, 1, 2, 2, 3]))
        mesh = {axis: self.choose([1, 2, 2, 2, 3]) for axis in axes}
        while math.prod(mesh.values()) > MOST_RANKS:
            mesh.popitem()
        return mesh

    def draw_config(self, ranks):
        tp, chunks = self.mesh.get("tp", 1), 2 if {"--schedule=interleaved", "--schedule=zb-v"} & set(ranks) else 1
        # Heads that tp does not divide are whole on each of its ranks.
        shares = tp * self.mesh.get("cp", 1) if "--context=ulysses" in ranks else self.choose([1, tp])
        keys = self.fitting([1, 1, 2, 3], shares)
        heads = keys * (1 if self.family in OF_ONE_KIND_OF_HEAD else self.choose([1, 1, 2, 3]))
        head, layers = self.choose([4, 8, 12]), self.fitting([1, 2, 3], self.mesh.get("pp", 1) * chunks)
        vocabulary, inner = self.choose([7, 13, 19, 32, 37]), self.fitting([1, 6, 7, 13, 20], tp)
        extra = FAMILIES[self.family]
        if self.family == "gpt2":
            return {"model_type": "gpt2", "n_embd": heads * head, "n_layer": layers, "n_head": heads, "n_positions": 24,
                    "vocab_size": vocabulary, "n_inner": inner, **self.dropout()}
        config = {"model_type": self.family, "hidden_size": heads * head, "intermediate_size": inner,
                  "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": keys,
                  "vocab_size": vocabulary, "max_position_embeddings": 24,
                  "tie_word_embeddings": self.happens(0.5), **extra}
        if self.family == "gpt_neox":
            config.pop("num_key_value_heads")
        if self.has_experts:
            count = self.fitting([2, 3, 4, 5], self.mesh.get("ep", 1))
            config["num_local_experts" if self.family == "mixtral" else "num_experts"] = count
            if self.family != "mixtral":
                config["moe_intermediate_size"] = self.fitting([3, 5, 8], tp)
            if self.family == "qwen2_moe":
                config["shared_expert_intermediate_size"] = self.fitting([1, 5, 8], tp)
        return config

    def dropout(self):
        return {name: self.choose([0, 0, 0, 0.2]) for name in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}

    def draw_shape(self, ranks):
        rows = math.prod(self.mesh.get(axis, 1) for axis in ("dp", "ep")) * self.accumulate
        positions = self.mesh.get("cp", 1) * (2 if "--context-order=zigzag" in ranks else self.choose([1, 2]))
        positions *= self.mesh.get("tp", 1) if "--sequence-parallel" in ranks else 1
        batch, length = self.fitting([1, 2, 3, 5], rows), self.fitting([1, 3, 5, 6, 7, 11, 18], positions)
        shape = [f"--batch={batch}", f"--seq={length}"] + (["--pack"] if self.happens(0.2) else [])
        self.rows_of_loss = batch // rows * (length // positions)
        bounds = self.allowed(length > 1, "--expert-bound=2")
        return shape + (self.maybe(0.3, "--capacity-factor=1", *bounds) if self.has_experts else [])

    def draw_ranks(self):
        if not self.mesh:
            return []
        options = ["--mesh=" + ",".join(f"{axis}={size}" for axis, size in self.mesh.items())]
        if {"dp", "cp", "ep"} & self.mesh.keys():
            options += self.draw_zero()
        if "tp" in self.mesh:
            options += self.maybe(0.4, "--sequence-parallel")
        if "cp" in self.mesh:
            options += self.maybe(0.6, "--context=ring", "--context=gather", "--context=ulysses")
            zigzag = self.allowed("--context=ring" in options and self.mesh["cp"] > 1, "--context-order=zigzag")
            options += self.maybe(0.3, "--context-order=straight", *zigzag)
        if "pp" in self.mesh:
            interleaved = self.allowed(self.accumulate % self.mesh["pp"] == 0, "--schedule=interleaved")
            options += self.maybe(0.6, "--schedule=gpipe", "--schedule=1f1b", "--schedule=zb-h1", "--schedule=zb-v",
                                  *interleaved)
        overlap = self.maybe(0.2, "--overlap=none", "--without=comm-fill-waits")
        if "tp" in self.mesh:
            options += self.maybe(0.2, *self.allowed("--overlap=none" not in overlap, "--tp-overlap=2"))
        algorithms = ["ring", "tree", "direct", *self.allowed(len(self.mesh) > 1, "hierarchical")]
        options += overlap + self.maybe(0.2, "--bucket-mb=0", "--bucket-mb=0.001")
        return options + self.maybe(0.2, *(f"--collectives={name}" for name in algorithms))

    def draw_zero(self):
        zero = self.maybe(0.6, "--zero=1", *self.allowed("pp" not in self.mesh, "--zero=2"), "--zero=3", "--zero=3")
        is_sharded = zero in (["--zero=2"], ["--zero=3"]) and self.accumulate > 1
        options = zero + (self.maybe(0.3, "--reshard-after-forward=false") if zero == ["--zero=3"] else [])
        options += self.maybe(0.2, "--unreduced-accumulators") if is_sharded else []
        sharing = [axis for axis, size in self.mesh.items() if size > 1 or axis == "pp"]
        may_measure = "dp" in sharing and not {"cp", "ep", "pp"} & set(sharing)
        return options + (self.maybe(0.3, "--noise-scale") if may_measure else [])

    def draw_others(self):
        options = [f"--accumulate={self.accumulate}"] if self.accumulate > 1 else []
        chunks = self.allowed(self.rows_of_loss > 1, "--loss-chunk=1", "--loss-chunk=4", "--loss-chunk=5")
        options += self.maybe(0.25, *chunks)
        options += self.maybe(0.3, "--recompute=full", "--recompute=selective", "--recompute=attention")
        options += self.maybe(0.25, "--merge-matmuls") + self.maybe(0.25, "--attention=decompose")
        for option in ("--without=exec-select-epilogues,exec-select-bias-gradients,exec-select-addends", "--row-alignment=0", "--without=exec-early-updates",
                       "--without=exec-lower-peak", "--without=tg-make-decode"):
            options += self.maybe(0.1, option)
        optimizer = self.choose(["sgd", "sgd", "sgd", "sgd", "adamw", "adam", "momentum", "lion"])
        options += [f"--optimizer={optimizer}"] + self.maybe(0.2, "--clip=0.5")
        if self.happens(0.4):
            options += ["--weight-decay=0.1"] + self.maybe(0.7, *(f"--decay-exclude={names}" for names in (
                "biases", "biases,norms", "norms,embeddings", "embeddings")))
        options += self.maybe(0.1, "--optimizer-state=bf16", "--optimizer-state=int8") if optimizer != "sgd" else []
        # In bf16, rounding changes which experts are chosen.
        return options + (self.maybe(0.05, "--precision=bf16") if not self.has_experts else [])

    def line(self):
        """Everything that was drawn."""
        return " ".join([json.dumps(self.config), *self.for_model, *self.for_compiler])


def names_left_out(message):
    """Returns a message without its names and numbers, by which refusals are counted."""
    lines = message.splitlines() or [""]
    first = next((line for line in lines if "error:" in line), lines[0])
    first = first[first.find("error: ") + len("error: "):] if "error: " in first else first
    return re.sub(r"'[^']*'|\{[^}]*\}|[\w.,=-]*\d[\w.,=-]*", "…", first), first


def one(draw, seed, engine, folder):
    """The results of one draw."""
    config = folder / "config.json"
    config.write_text(json.dumps(draw.config))
    graph = programs.write_graph(folder, config, draw.for_model)
    # Half of the draws are of plain SGD.
    return Check(engine(folder, graph, seed), draw.for_compiler).run(with_sgd=engine.saves)


def compare(arguments, folder):
    """Draws and compares; prints what differs, with the command that repeats it, and counts what is refused."""
    if arguments.random < 1:
        raise command.Usage(f"--random={arguments.random}: give a number of 1 or more")
    refused, same, wrong = collections.Counter(), 0, 0
    examples = {}
    for number in range(arguments.random):
        seed, draw = arguments.seed + number, Draw(arguments.seed + number)
        compiles = arguments.compile_every and number % arguments.compile_every == 0 and not arguments.interpret
        own = folder / str(seed)
        own.mkdir()
        try:
            results = one(draw, seed, programs.Compiled if compiles else programs.Interpreted, own)
            problem = "\n".join(result.line() for result in results if not result.same)
        except command.Refusal as error:
            key, example = names_left_out(str(error))
            refused[key] += 1
            examples.setdefault(key, example)
            problem = None
        except (programs.Broken, Incomparable) as error:
            problem = str(error)
        same += problem == ""
        if problem:
            wrong += 1
            how = " --compile-every=1" if compiles else ""
            print(f"check --random=1 --seed={seed}{how}: {draw.line()}\n{problem}", flush=True)
        if not (problem and arguments.work):
            shutil.rmtree(own)
    for key, count in refused.most_common():
        print(f"refused {count}: {examples[key]}")
    print(f"{arguments.random} drawn: {same} same, {sum(refused.values())} refused, {wrong} differ")
    return int(wrong > 0) if same or wrong else 2
