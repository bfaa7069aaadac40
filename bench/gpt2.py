"""The GPT-2 that the benchmarks of whole steps train, and its data."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scripts"))

from gpu_visit.tokens import write_tokens  # noqa: E402,F401  (for those that import this)

CONFIG = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 1024,
    "n_embd": 768, "n_layer": 12, "n_head": 12, "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5, "initializer_range": 0.02, "attn_pdrop": 0.0, "embd_pdrop": 0.0,
    "resid_pdrop": 0.0, "tie_word_embeddings": True, "bos_token_id": 50256, "eos_token_id": 50256,
}

