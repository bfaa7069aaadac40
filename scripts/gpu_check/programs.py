"""What is compiled: models, strategies and precisions, as data."""

from dataclasses import dataclass, field

# Two layers of the small GPT: all of its kernels, and a checkpoint that is easy to carry.
GPT = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256, "n_positions": 256,
    "n_embd": 192, "n_layer": 2, "n_head": 6, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
    "initializer_range": 0.02, "attn_pdrop": 0.0, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "tie_word_embeddings": True,
    "bos_token_id": 0, "eos_token_id": 0,
}

# How a graph is made, and with what it is trained.
MODELS = {
    "mlp": {"graph": "examples/mlp-by-hand/mlp.mlir", "data": "mlp"},
    "gpt": {"config": GPT, "batch": 8, "seq": 64, "data": "text"},
    "llama": {"preset": "llama-tiny", "batch": 8, "seq": 64, "data": "text"},
}

# Ranks and the words of braidc. On one GPU ranks are threads that share it.
STRATEGIES = {
    "one": (1, []),
    "ddp": (4, ["--mesh=dp=4"]),
    "zero1": (4, ["--mesh=dp=4", "--zero=1"]),
    "zero2": (4, ["--mesh=dp=4", "--zero=2"]),
    "zero3": (4, ["--mesh=dp=4", "--zero=3"]),
    "hsdp": (4, ["--mesh=replica=2,shard=2", "--zero=3"]),
    "pair": (2, ["--mesh=dp=2", "--zero=3"]),
}

# The largest difference of losses from the CPU target's, as a share.
TOLERANCE = {"f32": 1e-4, "bf16": 1e-2}

# Measured beside PyTorch and llm.c: GPT-2's 124M and 350M.
SPEED = {
    "gpt2-124m": {"preset": "gpt2", "seq": 1024, "layers": 12, "heads": 12, "width": 768, "vocabulary": 50257},
    "gpt2-350m": {"preset": "gpt2-medium", "seq": 1024, "layers": 24, "heads": 16, "width": 1024, "vocabulary": 50257},
}
# What `emit --rehearse` makes of it: the same path, in seconds and without a GPU.
REHEARSAL = {
    "gpt-rehearsal": {"config": {**GPT, "n_embd": 64, "n_head": 2}, "seq": 64, "layers": 2, "heads": 2, "width": 64,
                      "vocabulary": 256},
}
REHEARSAL_MEMORY = "36MiB"

STEPS = 10
# Steps of a first half are those of the whole: the schedule does not depend on how many there are.
TRAIN = ["--seed", 1, "--lr", "1e-3", "--schedule", "constant"]


@dataclass
class Program:
    name: str
    model: str
    ranks: int = 1
    precision: str = "f32"
    words: list = field(default_factory=list)


def checked_programs():
    return [Program(f"{model}-{strategy}-{precision}", model, ranks, precision, words)
            for model in MODELS for strategy, (ranks, words) in STRATEGIES.items() for precision in TOLERANCE]
