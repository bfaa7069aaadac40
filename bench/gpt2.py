"""The GPT-2 that the benchmarks of whole steps train, and its data."""

import struct

CONFIG = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 50257, "n_positions": 1024,
    "n_embd": 768, "n_layer": 12, "n_head": 12, "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5, "initializer_range": 0.02, "attn_pdrop": 0.0, "embd_pdrop": 0.0,
    "resid_pdrop": 0.0, "tie_word_embeddings": True, "bos_token_id": 50256, "eos_token_id": 50256,
}


def model_flops(config, batch, seq):
    """Operations of one step: forward and backward of the matrix products and attention."""
    width, layers = config["n_embd"], config["n_layer"]
    matrix_weights = layers * 12 * width * width + config["vocab_size"] * width
    return batch * seq * (6 * matrix_weights + 12 * layers * width * seq)


def write_tokens(path, count, vocab):
    """Tokens from a linear congruential generator, in the runtime's binary format."""
    state, tokens = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        tokens.append((state >> 33) % vocab)
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, 2, count, vocab).ljust(64, b"\0")
    path.write_bytes(header + struct.pack(f"<{count}H", *tokens))
