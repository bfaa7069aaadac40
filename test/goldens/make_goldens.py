#!/usr/bin/env python3
"""Makes the golden values beside this file with PyTorch and Hugging Face Transformers.

  python3 -m venv venv && venv/bin/pip install torch numpy safetensors transformers
  venv/bin/python test/goldens/make_goldens.py

Tests read only the files; they need neither PyTorch nor this script. README.md
says what each file holds. The script writes the same bytes on every run with the
same versions; the values do not depend on the versions beyond rounding.

Whole models. Three tiny models take ten AdamW steps on tokens.bin. The initial
weights are drawn here rather than by Transformers: larger than its 0.02, and with
biases and norms that are not zeros and ones, so that a mistake in any part of the
model or of its gradient moves the loss by far more than the tolerance of the test.
Each run is done in float32 and, as the reference for it, in float64.

Single operators. Inputs, outputs and gradients in float64, in ops.safetensors.
"""

import json
import pathlib
import struct

import numpy as np
import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import save_file
from transformers.models.llama import modeling_llama

HERE = pathlib.Path(__file__).resolve().parent

STEPS, BATCH, SEQ, VOCAB = 10, 4, 16, 256
OPTIMIZER = {"name": "adamw", "lr": 1e-3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1}

# What a config.json on the Hugging Face hub says, for models of a test's size.
CONFIGS = {
    "gpt2-tiny": {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": VOCAB,
        "n_positions": SEQ, "n_ctx": SEQ, "n_embd": 32, "n_layer": 2, "n_head": 4,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "initializer_range": 0.02,
        "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "tie_word_embeddings": True,
        "bos_token_id": 0, "eos_token_id": 0,
    },
    "llama-tiny": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": VOCAB,
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_act": "silu",
        "max_position_embeddings": SEQ, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "initializer_range": 0.02, "attention_bias": False, "attention_dropout": 0.0,
        "mlp_bias": False, "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
    },
}
CONFIGS["llama-tiny-tied"] = CONFIGS["llama-tiny"] | {"tie_word_embeddings": True}


# ---- Transformers in true float64 -------------------------------------------
# Transformers computes RMS norm and the rotary tables in float32 whatever the
# model's type is. These two compute in the type of their input.

def rms_norm_in_own_type(self, x):
    return F.rms_norm(x, x.shape[-1:], self.weight, self.variance_epsilon)


def rotary_tables(theta, head_dim, positions):
    inverse = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = positions.to(torch.float64)[..., None] * inverse
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotary_in_own_type(self, x, position_ids):
    cos, sin = rotary_tables(10000.0, self.config.head_dim, position_ids)
    return cos.to(x.dtype), sin.to(x.dtype)


IN_FLOAT32 = (modeling_llama.LlamaRMSNorm.forward, modeling_llama.LlamaRotaryEmbedding.forward)
IN_OWN_TYPE = (rms_norm_in_own_type, rotary_in_own_type)


def choose_llama_parts(dtype):
    parts = IN_OWN_TYPE if dtype == torch.float64 else IN_FLOAT32
    modeling_llama.LlamaRMSNorm.forward, modeling_llama.LlamaRotaryEmbedding.forward = parts


# ---- whole models -----------------------------------------------------------

def make_tokens():
    """Tokens with structure to learn: bytes of a few words in a random order."""
    words = [b"strands ", b"of ", b"computation ", b"and ", b"communication ", b"braided ", b"into ", b"one ", b"step.\n"]
    random = np.random.Generator(np.random.PCG64(1))
    text = b"".join(words[i] for i in random.integers(len(words), size=200))
    # One more than the windows hold: the last window's last target.
    return np.frombuffer(text, np.uint8)[:STEPS * BATCH * SEQ + 1].astype("<u2")


def write_tokens(path, tokens):
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, tokens.itemsize, len(tokens), VOCAB)
    path.write_bytes(header.ljust(64, b"\0") + tokens.tobytes())


def write_safetensors(path, tensors, metadata):
    save_file(tensors, path, metadata=metadata)
    path.chmod(0o644)


def initial_weights(model):
    """Values by parameter name: independent of the order and of the other tensors."""
    weights = {}
    for name, parameter in model.named_parameters():
        random = np.random.Generator(np.random.PCG64(list(name.encode())))
        values = random.standard_normal(tuple(parameter.shape))
        if parameter.dim() >= 2:
            values *= 0.2
        elif name.endswith(".bias"):
            values *= 0.1
        else:  # the weight of a norm
            values = 1 + 0.1 * values
        weights[name] = torch.from_numpy(values.astype(np.float32))
    return weights


def decays(name, tensor):
    """Matrices decay; biases, norms and embedding tables (also a tied one) do not."""
    embeddings = ("wte.weight", "wpe.weight", "embed_tokens.weight")
    return tensor.dim() >= 2 and not name.endswith(embeddings)


def train(model, tokens, clip):
    named = dict(model.named_parameters())
    groups = [
        {"params": [p for n, p in named.items() if decays(n, p)], "weight_decay": OPTIMIZER["weight_decay"]},
        {"params": [p for n, p in named.items() if not decays(n, p)], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=OPTIMIZER["lr"], betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]),
                                  eps=OPTIMIZER["eps"], foreach=False)
    windows = torch.from_numpy(tokens.astype(np.int64))
    result = {"losses": [], "grad_norms": []}
    for step in range(STEPS):
        rows = windows[step * BATCH * SEQ:][:BATCH * SEQ + 1]
        inputs, targets = rows[:-1].view(BATCH, SEQ), rows[1:].view(BATCH, SEQ)
        logits = model(input_ids=inputs, use_cache=False).logits
        loss = F.cross_entropy(logits.view(-1, VOCAB), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        # The norm before clipping; the factor is min(1, clip / (norm + 1e-6)).
        norm = torch.nn.utils.clip_grad_norm_(named.values(), clip or float("inf"))
        if step == 0:
            result["first_grad_norm_by_tensor"] = {
                n: p.grad.norm().item() / (min(1, clip / (norm.item() + 1e-6)) if clip else 1)
                for n, p in named.items()}
        optimizer.step()
        result["losses"].append(loss.item())
        result["grad_norms"].append(norm.item())
    return result


def build(config, weights, dtype):
    choose_llama_parts(dtype)
    cls = getattr(transformers, config["architectures"][0])
    model = cls._from_config(cls.config_class.from_dict(config), attn_implementation="sdpa").to(dtype)
    model.train()
    if weights:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(weights[name])
    return model


def make_model(name, config, tokens):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    example = build(config, None, torch.float32)
    weights = initial_weights(example)
    write_safetensors(folder / "weights.safetensors", weights, {"format": "pt"})
    goldens = {
        "steps": STEPS, "batch": BATCH, "seq": SEQ, "optimizer": OPTIMIZER,
        "decayed": [n for n, p in example.named_parameters() if decays(n, p)],
        "made_with": {"torch": torch.__version__, "transformers": transformers.__version__},
        "runs": {},
    }
    for run, clip in (("plain", None), ("clip", 1.0)):
        goldens["runs"][run] = {"clip": clip}
        for label, dtype in (("float32", torch.float32), ("float64", torch.float64)):
            goldens["runs"][run][label] = train(build(config, weights, dtype), tokens, clip)
    (folder / "goldens.json").write_text(json.dumps(goldens, indent=1) + "\n")
    for run, values in goldens["runs"].items():
        low, high = np.array(values["float32"]["losses"]), np.array(values["float64"]["losses"])
        print(f"{name} {run}: loss {high[0]:.4f} to {high[-1]:.4f}, "
              f"float32 off by at most {np.max(np.abs(low / high - 1)):.1e}, "
              f"gradient norms {min(values['float64']['grad_norms']):.2f} to {max(values['float64']['grad_norms']):.2f}")


# ---- single operators -------------------------------------------------------

class Cases:
    """Collects tensors as "case/tensor": inputs, outputs, output gradients "dy", input gradients "dNAME"."""

    def __init__(self):
        self.tensors = {}
        self.attributes = {}

    def random(self, case, name, *shape):
        generator = np.random.Generator(np.random.PCG64(list(f"{case}/{name}".encode())))
        return torch.from_numpy(generator.standard_normal(shape))

    def add(self, case, function, inputs, attributes=None, constants=None):
        """function(**inputs, **constants) gives y, or (y, dict of further outputs)."""
        leaves = {n: t.clone().requires_grad_() for n, t in inputs.items()}
        result = function(**leaves, **(constants or {}))
        y, extra = result if isinstance(result, tuple) else (result, {})
        dy = self.random(case, "dy", *y.shape)
        gradients = torch.autograd.grad(y, list(leaves.values()), dy)
        values = dict(inputs) | (constants or {}) | {"y": y, "dy": dy} | extra
        values |= {"d" + n: g for n, g in zip(leaves, gradients)}
        for name, value in values.items():
            self.tensors[f"{case}/{name}"] = value.detach().contiguous()
        self.attributes[case] = attributes or {}


def attention(q, k, v, causal, scale, window=None, softcap=None, documents=None):
    """q is batch x sequence x heads x size, as in tg.attention; k and v may have fewer heads."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    keys = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    scores = q @ keys.transpose(-1, -2) * scale
    # As Gemma 2 and Mistral do in Transformers.
    if softcap:
        scores = softcap * (scores / softcap).tanh()
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    if window:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(-window), float("-inf"))
    if documents is not None:
        scores = scores.masked_fill(documents[:, None, :, None] != documents[:, None, None, :], float("-inf"))
    if softcap or window or documents is not None:
        y = scores.softmax(-1) @ v.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    else:
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=True)
    return y.transpose(1, 2), {"lse": scores.logsumexp(-1)}


def layer_norm(x, weight, bias, eps):
    mean, variance = x.mean(-1), x.var(-1, unbiased=False)
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps), {"mean": mean, "rstd": (variance + eps).rsqrt()}


def rms_norm(x, weight, eps):
    return F.rms_norm(x, x.shape[-1:], weight, eps), {"rstd": (x.square().mean(-1) + eps).rsqrt()}


def cross_entropy(logits, targets, **attributes):
    loss = F.cross_entropy(logits.flatten(0, -2), targets.flatten(), **attributes)
    return loss, {"lse": logits.logsumexp(-1)}


def rope(x, theta):
    """x is batch x sequence x heads x size; its first half rotates against its second, as in Transformers."""
    cos, sin = rotary_tables(theta, x.shape[-1], torch.arange(x.shape[1])[:, None])
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


def lion(p, m, g, lr, weight_decay, betas):
    """Algorithm 2 of Chen et al. 2023, which PyTorch does not have: the new p and m."""
    direction = np.sign(betas[0] * m + (1 - betas[0]) * g)
    return p - lr * (direction + weight_decay * p), betas[1] * m + (1 - betas[1]) * g


def make_optimizers(cases):
    """Three steps of each optimizer on given gradients: p0, then g1 gives p1, and so on."""
    common = {"lr": 0.1, "weight_decay": 0.2}
    adam = common | {"betas": (0.8, 0.9), "eps": 1e-3}
    for case, optimizer, attributes in (
            ("sgd", torch.optim.SGD, common),
            ("sgd_momentum", torch.optim.SGD, common | {"momentum": 0.9}),
            ("sgd_nesterov", torch.optim.SGD, common | {"momentum": 0.9, "nesterov": True}),
            ("adam", torch.optim.Adam, adam),
            ("adamw", torch.optim.AdamW, adam)):
        parameter = cases.random(case, "p0", 2, 3).requires_grad_()
        cases.tensors[f"{case}/p0"] = parameter.detach().clone()
        updates = optimizer([parameter], foreach=False, **attributes)
        for step in (1, 2, 3):
            parameter.grad = cases.random(case, f"g{step}", 2, 3)
            cases.tensors[f"{case}/g{step}"] = parameter.grad.clone()
            updates.step()
            cases.tensors[f"{case}/p{step}"] = parameter.detach().clone()
        cases.attributes[case] = attributes
    attributes = common | {"betas": (0.7, 0.9)}
    p = cases.random("lion", "p0", 2, 3).numpy()
    m = np.zeros_like(p)
    cases.tensors["lion/p0"] = torch.from_numpy(p)
    for step in (1, 2, 3):
        g = cases.random("lion", f"g{step}", 2, 3).numpy()
        cases.tensors[f"lion/g{step}"] = torch.from_numpy(g)
        p, m = lion(p, m, g, **attributes)
        cases.tensors[f"lion/p{step}"] = torch.from_numpy(p)
    cases.attributes["lion"] = attributes


def make_ops():
    cases = Cases()
    for case, heads, key_heads, causal, scale, more in (
            ("attention_causal", 2, 2, True, 0.5, {}),
            ("attention_full", 2, 2, False, 0.5, {}),
            ("attention_grouped", 4, 2, True, 0.3, {}),
            ("attention_window", 2, 1, True, 0.5, {"window": 2}),
            ("attention_softcap", 4, 2, True, 1.0, {"window": 3, "softcap": 0.8})):
        inputs = {"q": cases.random(case, "q", 2, 5, heads, 4),
                  "k": cases.random(case, "k", 2, 5, key_heads, 4),
                  "v": cases.random(case, "v", 2, 5, key_heads, 4)}
        attributes = {"causal": causal, "scale": scale} | more
        cases.add(case, lambda **t: attention(**t, **attributes), inputs, attributes)

    case, attributes = "attention_documents", {"causal": True, "scale": 0.5}
    documents = torch.tensor([[0, 0, 1, 1, 1], [4, 7, 7, 7, 8]])
    cases.add(case, lambda **t: attention(**t, **attributes),
              {name: cases.random(case, name, 2, 5, heads, 4) for name, heads in (("q", 2), ("k", 1), ("v", 1))},
              attributes, {"documents": documents})
    cases.tensors[case + "/documents"] = documents.to(torch.int32)

    def norm_inputs(case, *names):
        return {"x": cases.random(case, "x", 2, 3, 7)} | {n: cases.random(case, n, 7) for n in names}
    cases.add("layer_norm", lambda **t: layer_norm(**t, eps=1e-5),
              norm_inputs("layer_norm", "weight", "bias"), {"eps": 1e-5})
    cases.add("rms_norm", lambda **t: rms_norm(**t, eps=1e-5), norm_inputs("rms_norm", "weight"), {"eps": 1e-5})

    for case, function, attributes in (
            ("softmax", lambda x: x.softmax(-1), {"axis": -1}),
            ("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), {}),
            ("gelu_erf", lambda x: F.gelu(x), {}),
            ("silu", lambda x: F.silu(x), {})):
        # Three times wider than a normal: into the tails.
        cases.add(case, function, {"x": 3 * cases.random(case, "x", 3, 11)}, attributes)
    cases.add("rope", lambda x: rope(x, 10000.0), {"x": cases.random("rope", "x", 2, 5, 3, 8)}, {"theta": 10000.0})

    targets = torch.tensor([[3, -100, 0], [8, -100, 5]])
    for reduction in ("mean", "sum"):
        case, attributes = "cross_entropy_" + reduction, {"ignore_index": -100, "reduction": reduction}
        cases.add(case, lambda **t: cross_entropy(**t, **attributes),
                  {"logits": 2 * cases.random(case, "logits", 2, 3, 9)}, attributes, {"targets": targets})
        cases.tensors[case + "/targets"] = targets.to(torch.int32)
    make_optimizers(cases)
    # One entry of metadata: safetensors writes several in no fixed order.
    write_safetensors(HERE / "ops.safetensors", cases.tensors, {"attributes": json.dumps(cases.attributes)})
    print(f"ops: {len(cases.attributes)} cases, {len(cases.tensors)} tensors")


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    tokens = make_tokens()
    write_tokens(HERE / "tokens.bin", tokens)
    make_ops()
    for name, config in CONFIGS.items():
        make_model(name, config, tokens)


if __name__ == "__main__":
    main()
