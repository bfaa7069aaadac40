"""What is compiled: models, strategies, precisions and options, as data."""

from dataclasses import dataclass, field

# Two layers of the small GPT: all of its kernels, and a checkpoint that is easy to carry.
GPT = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 256, "n_positions": 256,
    "n_embd": 192, "n_layer": 2, "n_head": 6, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5,
    "initializer_range": 0.02, "attn_pdrop": 0.0, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "tie_word_embeddings": True,
    "bos_token_id": 0, "eos_token_id": 0,
}
LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 256, "max_position_embeddings": 256,
    "hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4, "intermediate_size": 352,
    "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "initializer_range": 0.02, "tie_word_embeddings": False,
}
GPT2_124M = {**GPT, "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "embd_pdrop": 0.0,
             "resid_pdrop": 0.0}
# The shape of TinyLlama.
LLAMA_1B = {**LLAMA, "vocab_size": 32000, "max_position_embeddings": 2048, "hidden_size": 2048, "num_hidden_layers": 22,
            "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 5632}

# How a graph is made, and with what it is trained.
MODELS = {
    "mlp": {"graph": "examples/mlp-by-hand/mlp.mlir", "data": "mlp", "sums": [1, 32, 1], "tokens": 64, "parameters": 97},
    "gpt": {"config": GPT, "batch": 8, "seq": 64, "data": "text"},
    "llama": {"config": LLAMA, "batch": 8, "seq": 64, "data": "text"},
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
PRECISIONS = ("f32", "bf16")

# What to compile with where a library of the GPU's machine refuses a call: least is given up first.
FALL_BACKS = {
    "epilogues-activations": ["--epilogues=activations"],
    "epilogues-none": ["--epilogues=none"],
    "decompose": ["--attention=decompose"],
}

# Attention without a library, which is to be timed beside it.
TILES = {"tiles": ["--attention=tiles"]}

# The order in which attention's gradient is summed. Runs of small programs are to give the same bits.
ORDERS = {"order-any": ["--attention-order=any"], "order-fixed": ["--attention-order=fixed"]}

STEPS = 10
LEARNING_RATE = 1e-3
CLIP = 1.0
# Steps of a first half are those of the whole: the schedule does not depend on how many there are.
TRAIN = ["--seed", 1, "--lr", LEARNING_RATE, "--schedule", "constant"]

# Ranks that share a GPU are another way to the same kernels: one rank shows what those do.
NUMBERS = ["losses", "gradients", "arena", "cuda_graph", "determinism", "resumes", "saves"]
SANITIZER = ["memcheck", "racecheck", "initcheck"]
SEVERAL = ["nccl_threads", "nccl_threads_graph", "nccl_processes", "nccl_processes_graph", "rank_dies"]
CHECKS_OF_RANKS = ["losses", "arena", "resumes", *SEVERAL]


@dataclass
class Program:
    name: str
    model: str
    ranks: int = 1
    precision: str = "f32"
    words: list = field(default_factory=list)
    checks: list = field(default_factory=list)


def checked_programs():
    """Those of one rank first: they say most, in least time."""
    programs = [Program(f"{model}-{strategy}-{precision}", model, ranks, precision, [*words, *ORDERS["order-fixed"]],
                        NUMBERS + SANITIZER if ranks == 1 else CHECKS_OF_RANKS)
                for strategy, (ranks, words) in STRATEGIES.items() for model in MODELS for precision in PRECISIONS]
    fall_backs = [Program(f"gpt-one-bf16-{name}", "gpt", 1, "bf16", words, ["losses"])
                  for name, words in {**FALL_BACKS, **TILES, "order-any": ORDERS["order-any"]}.items()]
    ones = [its for its in programs if its.ranks == 1]
    return [*ones, *fall_backs, *programs[len(ones):]]


# ---------------------------------------------------------------------------
# Speed
# ---------------------------------------------------------------------------

MEASURES = ["throughput", "throughput_searched", "kernels", "products"]


@dataclass
class Measured:
    """A program that is measured, and what beside it; `instead_of` another one, where that does not run, or a `variant_of`
    it, which is left out where it is the same."""
    name: str
    config: dict
    seq: int
    batch: int | None  # None: the largest that the memory holds
    measures: list
    peers: list = field(default_factory=list)
    rounds: int = 2  # turns of ours and of its peers, at most
    words: list = field(default_factory=list)
    instead_of: str | None = None
    variant_of: str | None = None


def with_fall_backs(program):
    return [program, *(Measured(f"{program.name}-{name}", program.config, program.seq, program.batch, program.measures, program.peers,
                                program.rounds, words, program.name) for name, words in FALL_BACKS.items())]


def measured_programs(gpt, seq, batch, llama, llama_seq, llama_batch):
    everything = ["eager", "compile", "compile-bf16", "llm.c"]
    return [
        *with_fall_backs(Measured("gpt2-124m", gpt, seq, batch, MEASURES, everything)),
        *(Measured(f"gpt2-124m-{name}", gpt, seq, batch, ["throughput"], words=words, variant_of="gpt2-124m")
          for name, words in {**ORDERS, **TILES}.items()),
        *with_fall_backs(Measured("llama-1b", llama, llama_seq, llama_batch, MEASURES, ["compile-bf16"], rounds=1)),
        Measured("gpt2-124m-largest", gpt, seq, None, ["throughput"], ["compile-bf16", "llm.c"], rounds=1),
    ]


SPEED = measured_programs(GPT2_124M, 1024, 64, LLAMA_1B, 2048, 8)
# What `emit --rehearse` makes of it: the same path, in seconds and without a GPU.
TINY_GPT = {**GPT, "n_positions": 64, "n_embd": 64, "n_head": 2, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
TINY_LLAMA = {**LLAMA_1B, "vocab_size": 256, "max_position_embeddings": 64, "hidden_size": 64, "num_hidden_layers": 2,
              "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 128}
REHEARSAL = measured_programs(TINY_GPT, 64, 4, TINY_LLAMA, 64, 4)
REHEARSAL_MEMORY = "36MiB"
