"""The programs of the step `wide`, as data: what is generated for GPUs beyond the models whose speed is measured.

Each family has the configuration of its golden checkpoint, with every feature on, in sizes with odd remainders; options
and shapes follow.  Programs whose losses must be the same share a twin on the CPU target.
"""

import json
import pathlib
from dataclasses import dataclass, field

from . import programs

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PREFIX = "wide-"

# What is checked of each program, all of one run that saves each step.
ONE_RUN = ["losses", "held_out", "measured", "arena", "gradients"]
SAVES = ["--save-every", 1, "--keep", 0, "--checkpoint"]
# A second run, by launches without graph and without early starts: the bits of the first.
UNTOKENED = [*ONE_RUN, "launched"]
# Without gradients: they mean nothing, or are too many to carry.
UNGRADED = [check for check in UNTOKENED if check != "gradients"]
CHECKS = [*UNTOKENED, "tokens"]
SAMPLE = ["sample", "--prompt-tokens=1,2,3", "--length", 12, "--temperature", 1, "--top-k", 50]


@dataclass
class Model:
    """A golden family with other sizes, an example's configuration, or a graph written by hand."""
    family: str
    sizes: dict = field(default_factory=dict)
    batch: int = 3
    seq: int = 70
    words: list = field(default_factory=list)  # of braid-model
    data: str = "tokens"
    graph: str | None = None
    features: dict = field(default_factory=dict)  # settings that a rehearsal has, too

    def config(self, rehearsal):
        example = "/" in self.family
        its = json.loads((ROOT / ("" if example else "test/goldens/families") / self.family / "config.json").read_text())
        positions = "n_positions" if "n_positions" in its else "max_position_embeddings"
        small, real = {"vocab_size": 257, **self.features}, {positions: 256, "vocab_size": 521, **self.features, **self.sizes}
        return {**its, **({} if example else small if rehearsal else real)}

    def shape(self, rehearsal):
        return (min(self.batch, 4), min(self.seq, 16)) if rehearsal else (self.batch, self.seq)


def sizes(hidden, heads, kv, inner, **more):
    grouped = {"num_key_value_heads": kv} if kv else {}
    return {"hidden_size": hidden, "num_attention_heads": heads, "intermediate_size": inner, **grouped, **more}


def windows(hidden, heads, kv, inner, **more):
    """A window that begins and ends inside tiles of 64 keys."""
    return sizes(hidden, heads, kv, inner, sliding_window=37, **more)


GPT_SIZES = {"n_embd": 80, "n_head": 5, "n_inner": 100}
DROPOUT = {"embd_pdrop": 0.1, "resid_pdrop": 0.1}
LLAMA_SIZES = sizes(96, 3, 1, 84, head_dim=24, pad_token_id=3)
MIXTRAL = windows(80, 5, 1, 52)

MODELS = {
    "gpt": Model("gpt2", GPT_SIZES, 6, 70, features=DROPOUT),
    "gpt-attention-dropout": Model("gpt2", GPT_SIZES, 6, 70, features={**DROPOUT, "attn_pdrop": 0.1}),
    "llama": Model("llama", LLAMA_SIZES),
    "mistral": Model("mistral", windows(80, 5, 5, 132), 2, 150),
    "qwen2": Model("qwen2", windows(96, 6, 3, 100), 2, 150),
    "qwen3": Model("qwen3", sizes(80, 5, 1, 100, head_dim=24)),
    "gemma2": Model("gemma2", windows(72, 2, 1, 60, head_dim=256, pad_token_id=3), 2, 150),
    "gemma3": Model("gemma3", windows(60, 3, 3, 52, head_dim=20), 2, 150),
    "phi": Model("phi", sizes(96, 3, 1, 100)),
    "gpt_neox": Model("gpt_neox", sizes(80, 5, None, 100)),
    "gpt_neox_sequential": Model("gpt_neox_sequential", sizes(80, 5, None, 100)),
    "mixtral": Model("mixtral", {**MIXTRAL, "num_local_experts": 5}, 3, 90),
    "mixtral-dropped": Model("mixtral", {**MIXTRAL, "num_local_experts": 5}, 3, 90, ["--capacity-factor=1.0"]),
    "qwen2_moe": Model("qwen2_moe", windows(80, 5, 5, 60, moe_intermediate_size=36, shared_expert_intermediate_size=44), 2, 90),
    "qwen3_moe": Model("qwen3_moe", sizes(80, 5, 1, 60, moe_intermediate_size=36, head_dim=24)),
    # Sizes that 2 ranks divide.
    "even": Model("llama", sizes(96, 4, 2, 84, head_dim=24, pad_token_id=3), 4, 64, features={"vocab_size": 512}),
    "even-gpt": Model("gpt2", {"n_embd": 80, "n_head": 4, "n_inner": 100}, 4, 64, features={**DROPOUT, "vocab_size": 512}),
    "even-moe": Model("mixtral", windows(80, 4, 2, 52, num_local_experts=4), 4, 64, features={"vocab_size": 512}),
    "bigram": Model("", graph="examples/bigram/bigram.mlir", data="text"),
    # Several documents in a row, with attention and positions inside each.
    "packed-gpt": Model("gpt2", GPT_SIZES, 2, 150, ["--pack"], "documents"),
    "packed-llama": Model("llama", LLAMA_SIZES, 2, 150, ["--pack"], "documents"),
    "packed-gemma2": Model("gemma2", windows(72, 3, 1, 60, head_dim=64, pad_token_id=3), 2, 150, ["--pack"], "documents"),
    "packed-mixtral": Model("mixtral", {**MIXTRAL, "num_local_experts": 5}, 2, 90, ["--pack"], "documents"),
    # Shapes.
    "row": Model("llama", LLAMA_SIZES, 1, 129),
    "position": Model("llama", LLAMA_SIZES, 9, 1),
    "long": Model("mistral", sizes(40, 2, 1, 52, sliding_window=200, max_position_embeddings=1024), 1, 1000),
    "vocabulary": Model("gpt2", {**GPT_SIZES, "vocab_size": 50257, "n_embd": 16, "n_head": 2}, 2, 40),
    # Rows that need a second call.
    "rows-apart": Model("gpt2", {**GPT_SIZES, "vocab_size": 1025}, 3, 70, features={"vocab_size": 1025}),
    # The examples, in their sizes.
    "long-context": Model("examples/long-context", batch=1, seq=256, data="text"),
    "finetune": Model("examples/finetune/model", batch=2, data="text"),
}


@dataclass
class Program:
    """`words` are of braidc for both targets, `cuda` for a GPU alone, which change no result; `run` is of training, and `here` of
    training on a GPU alone."""
    name: str
    model: str
    precision: str = "f32"
    words: list = field(default_factory=list)
    cuda: list = field(default_factory=list)
    run: list = field(default_factory=list)
    here: list = field(default_factory=list)
    checks: list = field(default_factory=lambda: UNTOKENED)
    split: bool = False  # rows beyond a multiple are a second call, however few there are

    def __post_init__(self):
        self.name = PREFIX + self.name


def families():
    """Those whose attention is by tiles or that choose experts sample, too: tokens come by programs of their own."""
    sampled = ("gpt", "llama", "qwen2", "qwen3", "gemma2", "gemma3", "phi", "mixtral")
    for name in ("gemma2", "mixtral", "qwen3", "qwen2_moe", "gemma3", "qwen2", "gpt", "qwen3_moe", "phi", "mistral", "llama", "gpt_neox",
                 "gpt_neox_sequential", "mixtral-dropped"):
        yield Program(f"{name}-f32", name, checks=CHECKS if name in sampled else UNTOKENED)
    for name in ("gemma2", "qwen3", "phi", "gpt", "gpt_neox"):
        yield Program(f"{name}-bf16", name, "bf16")
    # A rounding may choose another expert, whose gradient is a whole one.
    yield Program("mixtral-bf16", "mixtral", "bf16", checks=UNGRADED)


def variants(model, words, precision="f32"):
    """Ways to compute the same on a GPU."""
    for name, its in words.items():
        yield Program(f"{model}-{precision}-{name}", model, precision, cuda=its.split())


def options():
    yield from variants("gpt", {
        "recompute-full": "--recompute=full", "recompute-selective": "--recompute=selective", "offload-activations":
        "--offload=activations --offload-activations=all", "offload-optimizer": "--offload=optimizer", "loss-chunk": "--loss-chunk=50",
        "late": "--without=exec-early-updates,exec-lower-peak", "plain": "--without=exec-select-epilogues,exec-select-bias-gradients,exec-select-addends,tg-merge-contractions,exec-shorten-row-loops --row-alignment=0"})
    yield from variants("gpt", {"offload": "--offload=optimizer,activations --offload-activations=all", "recompute-full": "--recompute=full"}, "bf16")
    yield from variants("gemma2", {"recompute-full": "--recompute=full", "decompose": "--attention=decompose"})
    yield from variants("mixtral", {"recompute-full": "--recompute=full", "zero3": "--mesh=dp=1 --zero=3"})
    yield from variants("llama", {"offload-recompute": "--offload=optimizer,activations --offload-activations=all --recompute=attention",
                                  "tp": "--mesh=tp=1", "unmerged": "--without=tg-merge-contractions --loss-chunk=33"})
    # These change what is computed, so the CPU target has them, too.
    clip = ["--clip=0.5"]
    hooks = ["--hook=h.0.exit:norm,h.1.exit.grad:norm,h.0.exit.grad:clip:0.02,param:transformer.ln_f.weight:norm"]
    yield Program("gpt-f32-accumulate", "gpt", words=["--accumulate=3", *clip])
    yield Program("gpt-bf16-accumulate", "gpt", "bf16", ["--accumulate=2", "--grad-dtype=bf16", *clip])
    yield Program("gpt-f32-hooks", "gpt", words=[*hooks, *clip])
    yield Program("gpt-f32-attention-dropout", "gpt-attention-dropout", cuda=["--recompute=attention"])
    yield Program("gpt-f32-schedule", "gpt", words=["--weight-decay=0.1", "--decay-exclude=biases,norms"],
                  run=["--lr-schedule=cosine", "--warmup=3", "--min-lr=1e-4"])
    yield Program("gpt-f32-short-batches", "gpt", run=["--batch-order=sequential", "--holdout=0.88"])
    for state in ("bf16", "int8"):
        yield Program(f"gpt-f32-{state}-state", "gpt", words=[f"--optimizer-state={state}", *clip], checks=UNGRADED)
    yield Program("gpt-bf16-int8-state-offload", "gpt", "bf16", ["--optimizer-state=int8", *clip], ["--offload=optimizer"], checks=UNGRADED)
    for optimizer in ("sgd", "momentum", "nesterov", "lion", "adam"):
        yield Program(f"qwen3-f32-{optimizer}", "qwen3", words=[f"--optimizer={optimizer}", *clip])


def shapes():
    for name in ("packed-gemma2", "packed-llama", "packed-gpt", "packed-mixtral", "vocabulary", "row", "long", "bigram"):
        yield Program(f"{name}-f32", name)
    # Attention to one position has no gradients of queries and keys but roundings.
    yield Program("position-f32", "position", checks=UNGRADED)
    yield Program("packed-llama-bf16", "packed-llama", "bf16")
    yield Program("vocabulary-bf16", "vocabulary", "bf16", checks=UNGRADED)
    yield Program("long-context-f32", "long-context", checks=UNGRADED)
    yield Program("finetune-bf16", "finetune", "bf16", run=["--init={data}/finetune"])
    for precision in ("f32", "bf16"):
        yield Program(f"rows-apart-{precision}", "rows-apart", precision, split=True)


def meshes():
    """Several ranks beside one rank of the CPU target.  They are threads that share the GPU, since NCCL takes one rank a GPU, so
    collectives go through the host's memory, which no CUDA graph can hold."""
    axes = {
        "even": {"dp": "dp=2", "zero1": "dp=2 --zero=1", "zero2": "dp=2 --zero=2", "zero3": "dp=2 --zero=3", "zero3-of-4": "dp=4 --zero=3",
                 "hsdp": "replica=2,shard=2 --zero=3", "tp": "tp=2", "sp": "tp=2 --sequence-parallel", "cp-ring": "cp=2 --context=ring",
                 "cp-gather": "cp=2 --context=gather", "cp-ulysses": "cp=2 --context=ulysses", "pp": "pp=2 --accumulate=2",
                 "pp-zb": "pp=2 --accumulate=4 --schedule=zb-h1", "pp-tp": "pp=2,tp=2 --accumulate=2 --sequence-parallel",
                 "dp-tp-zero3": "dp=2,tp=2 --zero=3 --sequence-parallel", "dp-cp": "dp=2,cp=2 --zero=2",
                 "dp-accumulate": "dp=2 --accumulate=2 --zero=2", "dp-offload": "dp=2 --zero=3 --offload=optimizer --recompute=full"},
        "even-gpt": {"dp": "dp=2", "zero3": "dp=2 --zero=3", "tp-sp": "tp=2 --sequence-parallel", "pp": "pp=2 --accumulate=2"},
        "even-moe": {"ep": "ep=2", "dp-ep": "dp=2,ep=2 --zero=1", "tp": "tp=2", "zero3": "dp=2 --zero=3"},
    }
    for model, its in axes.items():
        for name, mesh in its.items():
            yield ranks(f"{model}-f32-{name}", model, mesh)
    for name in ("zero3", "sp", "pp", "cp-ring"):
        yield ranks(f"even-bf16-{name}", "even", axes["even"][name], "bf16")


def ranks(name, model, mesh, precision="f32"):
    # Microbatches are what is evaluated, too: other rows than those of a whole batch.
    unlike = ["launched", *(["held_out"] if "--accumulate" in mesh else [])]
    return Program(name, model, precision, cuda=f"--mesh={mesh} --transports=device-threads".split(), here=["--transport=device-threads"],
                   checks=[check for check in UNTOKENED if check not in unlike])


PROGRAMS = [*families(), *options(), *shapes(), *meshes()]


def train_words(name, run, data, steps=programs.STEPS):
    """The words of a run, on either target; `data` is the folder that has all of it."""
    words = ["--seed", 1, "--lr", programs.LEARNING_RATE, "--steps", steps, "--eval-every", 5, "--eval-batches", 2,
             *(word.format(data=data) for word in run)]
    return ["train", "--data", data / name, *(["--data-format=bytes"] if name == "text" else []), *words]
