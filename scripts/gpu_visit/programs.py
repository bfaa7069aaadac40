"""The programs of a visit, as data: models, precisions, options of braidc, and the checks of each program."""

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
LLAMA_1B = {**LLAMA, "vocab_size": 32000, "max_position_embeddings": 4096, "hidden_size": 2048, "num_hidden_layers": 22,
            "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 5632}

# The options that make a graph, and those that train it.
MODELS = {
    "mlp": {"graph": "examples/mlp-by-hand/mlp.mlir", "data": "mlp", "sums": [1, 32, 1], "tokens": 64, "parameters": 97},
    "gpt": {"config": GPT, "batch": 8, "seq": 64, "data": "text"},
    "llama": {"config": LLAMA, "batch": 8, "seq": 64, "data": "text"},
}

STEPS = 10
LEARNING_RATE = 1e-3
CLIP = 1.0
# The learning rate is constant, so the first half of a run has the same steps as a whole run.
TRAIN = ["--seed", 1, "--lr", LEARNING_RATE, "--lr-schedule", "constant"]
# cuBLASLt's first choice for each matmul, without a search.
HEURISTIC = ["--matmul-search=1"]
CANDIDATES = 16

NUMBERS = ["losses", "arena", "gradients", "cuda_graph"]
BITS = ["determinism", "resumes", "saves"]
SANITIZER = ["memcheck", "racecheck"]
FALLBACK = ["fallback"]

# Equal bits in every run require a fixed order of attention's sums.
FIXED = ["--attention-order=fixed"]
NO_EPILOGUES = "--without=exec-select-epilogues,exec-select-bias-gradients,exec-select-addends"


@dataclass
class Program:
    """A small program whose numbers are compared with those of the CPU target."""
    name: str
    model: str
    precision: str
    checks: list
    words: list = field(default_factory=list)


CHECKED = [
    # racecheck cannot run the libraries' kernels of bf16 for Hopper ("failed to handle a hardware exception").
    Program("mlp-f32", "mlp", "f32", NUMBERS + SANITIZER[1:]),
    Program("gpt-f32", "gpt", "f32", NUMBERS + BITS + SANITIZER[1:], FIXED),
    # If only this program agrees with the CPU and its twin does not, the library's approximate GELU is the cause.
    Program("gpt-f32-epilogues-none", "gpt", "f32", NUMBERS, [*FIXED, NO_EPILOGUES]),
    Program("gpt-bf16", "gpt", "bf16", NUMBERS + BITS + SANITIZER[:1], FIXED),
    Program("llama-bf16", "llama", "bf16", NUMBERS, FIXED),
    Program("gpt-bf16-epilogues-none", "gpt", "bf16", FALLBACK, [*FIXED, NO_EPILOGUES]),
    Program("gpt-bf16-decompose", "gpt", "bf16", FALLBACK, ["--attention=decompose"]),
    Program("gpt-bf16-tiles", "gpt", "bf16", FALLBACK + SANITIZER[:1], ["--attention=tiles"]),
]


@dataclass
class Measured:
    """A program whose speed is measured.  A variant is measured once, beside the program that it is a `variant_of`."""
    name: str
    config: dict
    batch: int
    seq: int
    words: list = field(default_factory=list)
    variant_of: str | None = None


def measured(gpt, gpt_batch, gpt_seq, llama, llama_batch, llama_seq):
    variants = {"order-any": ["--attention-order=any"], "order-fixed": FIXED, "unchunked": ["--loss-chunk=none"],
                "chunked": [f"--loss-chunk={gpt_batch * gpt_seq // 32}"], "tiles": ["--attention=tiles"],
                "activations": ["--without=exec-select-bias-gradients,exec-select-addends"]}
    return [Measured("gpt2-124m", gpt, gpt_batch, gpt_seq),
            *(Measured(f"gpt2-124m-{name}", gpt, gpt_batch, gpt_seq, words, "gpt2-124m") for name, words in variants.items()),
            Measured("llama-1b", llama, llama_batch, llama_seq)]


SPEED = measured(GPT2_124M, 64, 1024, LLAMA_1B, 4, 4096)
# The same steps with programs that the host's stand-in for a GPU runs in seconds.
TINY_GPT = {**GPT, "n_positions": 64, "n_embd": 64, "n_head": 2, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
TINY_LLAMA = {**LLAMA_1B, "vocab_size": 256, "max_position_embeddings": 64, "hidden_size": 64, "num_hidden_layers": 2,
              "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 128}
REHEARSAL = measured(TINY_GPT, 4, 64, TINY_LLAMA, 4, 64)
REHEARSAL_MODELS = {**MODELS, "gpt": {**MODELS["gpt"], "config": {**GPT, "n_embd": 64, "n_head": 2, "n_layer": 1}, "batch": 2, "seq": 16},
                    "llama": {**MODELS["llama"], "config": TINY_LLAMA, "batch": 2, "seq": 16}}
