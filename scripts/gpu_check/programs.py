"""What is compiled: models, strategies and precisions, as data."""

from dataclasses import dataclass, field

# How a graph is made, and with what it is trained.
MODELS = {
    "mlp": {"graph": "examples/mlp-by-hand/mlp.mlir", "data": "mlp"},
    "gpt": {"preset": "gpt-small", "batch": 8, "seq": 64, "data": "text"},
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
}

# The largest difference of losses from the CPU target's, as a share.
TOLERANCE = {"f32": 1e-4, "bf16": 1e-2}

# Measured beside PyTorch: GPT-2's 124M and 350M.
SPEED = {
    "gpt2-124m": {"preset": "gpt2", "seq": 1024},
    "gpt2-350m": {"preset": "gpt2-medium", "seq": 1024},
}

STEPS = 10
# Steps of a first half are those of the whole: the schedule does not depend on how many there are.
TRAIN = ["--seed", 1, "--lr", "1e-3", "--schedule", "constant"]


@dataclass
class Program:
    name: str
    model: dict
    ranks: int = 1
    precision: str = "f32"
    words: list = field(default_factory=list)


def checked_programs():
    return [Program(f"{model}-{strategy}-{precision}", MODELS[model], ranks, precision, words)
            for model in MODELS for strategy, (ranks, words) in STRATEGIES.items() for precision in TOLERANCE]
