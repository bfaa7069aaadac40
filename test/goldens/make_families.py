#!/usr/bin/env python3
"""Makes the golden values of each family of models, in families/ beside this file.

  venv/bin/python test/goldens/make_families.py [FAMILY...]

The virtual environment is that of make_goldens.py; tests need neither.  A family's folder
is a checkpoint as Transformers writes it: config.json and model.safetensors, a tiny model
with random weights, but with every feature of the family switched on and set so that it
matters in 16 positions: a window of 5 tokens, soft caps that bend, frequencies of which
some are lowered, a pad that is in the data.  step.safetensors has a batch, its logits and the gradient of every
weight; goldens.json has ten AdamW steps.  All of it is what Transformers computes in
float32; the script prints how far float64 is from it.

Where Transformers has the weights of all experts in one parameter, model.safetensors has a tensor
for each, as checkpoints do, and step.safetensors a gradient for all, with a star in the name.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
import transformers

import make_goldens
from make_goldens import HERE, OPTIMIZER, STEPS, write_safetensors, write_tokens

FAMILIES = HERE / "families"
BATCH, SEQ, VOCAB, CLIP = 2, 16, 64, 1.0

SIZES = {"vocab_size": VOCAB, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
         "max_position_embeddings": 32, "initializer_range": 0.02, "attention_dropout": 0.0}
GATED = SIZES | {"intermediate_size": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-6}
PLAIN = SIZES | {"intermediate_size": 40, "num_attention_heads": 2, "layer_norm_eps": 1e-5}

CONFIGS = {
    "gpt2": {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": VOCAB, "n_positions": 32,
        "n_embd": 16, "n_layer": 2, "n_head": 4, "n_inner": 40, "activation_function": "gelu_new",
        "layer_norm_epsilon": 1e-5, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0,
        "scale_attn_by_inverse_layer_idx": True,
    },
    # Of the frequencies 1, 0.1, 0.01 and 0.001 the first stays, the second is between.
    "llama": GATED | {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "head_dim": 8, "hidden_act": "silu",
        "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True, "rope_theta": 10000.0,
        "pad_token_id": 32,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 0.2, "high_freq_factor": 2.0,
                         "original_max_position_embeddings": 16},
    },
    "mistral": GATED | {
        "model_type": "mistral", "architectures": ["MistralForCausalLM"], "hidden_act": "silu", "sliding_window": 5,
        "tie_word_embeddings": False, "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0},
    },
    "qwen2": GATED | {
        "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_act": "silu",
        "tie_word_embeddings": False, "use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1,
        "rope_theta": 1000000.0, "rope_scaling": {"type": "linear", "factor": 2.0},
    },
    "qwen3": GATED | {
        "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 8, "hidden_act": "silu",
        "attention_bias": True, "tie_word_embeddings": True, "use_sliding_window": False, "max_window_layers": 28,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
    },
    # A loss of the routers, which is large enough to matter; a window.
    "mixtral": GATED | {
        "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_act": "silu", "sliding_window": 5,
        "num_local_experts": 4, "num_experts_per_tok": 2, "output_router_logits": True, "router_aux_loss_coef": 0.05,
        "tie_word_embeddings": False, "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0},
    },
    # Weights that do not add up to 1, an expert for all tokens, both losses of routers.
    "qwen2_moe": GATED | {
        "model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "hidden_act": "silu",
        "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 12, "norm_topk_prob": False,
        "shared_expert_intermediate_size": 20, "output_router_logits": True, "router_aux_loss_coef": 0.01,
        "router_z_loss_coef": 0.01, "tie_word_embeddings": False, "use_sliding_window": True, "sliding_window": 4,
        "max_window_layers": 1, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    },
    # The first layer has none.
    "qwen3_moe": GATED | {
        "model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "head_dim": 8, "hidden_act": "silu",
        "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 12, "norm_topk_prob": True,
        "decoder_sparse_step": 2, "attention_bias": True, "tie_word_embeddings": True,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
    },
    "gemma2": GATED | {
        "model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "head_dim": 8,
        "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 12, "attn_logit_softcapping": 1.5,
        "final_logit_softcapping": 3.0, "sliding_window": 5, "rope_theta": 100.0, "pad_token_id": -32,
    },
    "gemma3": GATED | {
        "model_type": "gemma3_text", "architectures": ["Gemma3ForCausalLM"], "head_dim": 8,
        "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 12, "sliding_window": 5,
        "sliding_window_pattern": 2, "rope_theta": 1000.0, "rope_local_base_freq": 100.0,
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    },
    "gpt_neox": PLAIN | {
        "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "hidden_act": "gelu", "rotary_pct": 0.5,
        "rotary_emb_base": 100, "use_parallel_residual": True, "tie_word_embeddings": False, "hidden_dropout": 0.0,
    },
    "phi": PLAIN | {
        "model_type": "phi", "architectures": ["PhiForCausalLM"], "hidden_act": "gelu_new", "num_key_value_heads": 1,
        "partial_rotary_factor": 0.5, "rope_theta": 100.0, "qk_layernorm": True, "tie_word_embeddings": False,
        "resid_pdrop": 0.0, "embd_pdrop": 0.0,
    },
}
CONFIGS["gpt_neox_sequential"] = CONFIGS["gpt_neox"] | {"use_parallel_residual": False, "attention_bias": False}


def make_tokens():
    """Tokens of 6 bits with structure to learn."""
    text = make_goldens.make_tokens()[:STEPS * BATCH * SEQ + 1]
    return (text & (VOCAB - 1)).astype("<u2")


def initial_weights(model, around_zero):
    """As those of make_goldens, but norms that add 1 to their weights have weights around zero."""
    weights = make_goldens.initial_weights(model)
    for name, values in weights.items():
        if around_zero and "norm" in name:
            values -= 1
    return weights


def decays(name, tensor):
    return make_goldens.decays(name, tensor) and not name.endswith("embed_in.weight")


def build(config, weights, dtype):
    cls = getattr(transformers, config["architectures"][0])
    model = cls._from_config(cls.config_class.from_dict(dict(config)), attn_implementation="eager",
                             experts_implementation="eager").to(dtype).train()
    if weights:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(weights[name])
    return model


def router_losses(config, outputs):
    """What routers add to the loss: Transformers' own, and the z-loss as its Switch Transformers have it."""
    if not getattr(config, "output_router_logits", False):
        return 0.0
    loss = config.router_aux_loss_coef * outputs.aux_loss
    if weight := getattr(config, "router_z_loss_coef", 0.0):
        loss = loss + weight * torch.logsumexp(torch.cat(outputs.router_logits), dim=-1).square().mean()
    return loss


def windows_of(tokens, step):
    rows = torch.from_numpy(tokens[step * BATCH * SEQ:][:BATCH * SEQ + 1].astype(np.int64))
    return rows[:-1].view(BATCH, SEQ), rows[1:].view(BATCH, SEQ)


def train(model, tokens):
    """Losses, norms of gradients before clipping, and the first step's logits and gradients."""
    named = dict(model.named_parameters())
    groups = [{"params": [p for n, p in named.items() if decays(n, p)], "weight_decay": OPTIMIZER["weight_decay"]},
              {"params": [p for n, p in named.items() if not decays(n, p)], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=OPTIMIZER["lr"], betas=(OPTIMIZER["beta1"], OPTIMIZER["beta2"]),
                                  eps=OPTIMIZER["eps"], foreach=False)
    losses, norms, first = [], [], {}
    for step in range(STEPS):
        inputs, targets = windows_of(tokens, step)
        outputs = model(input_ids=inputs, use_cache=False)
        logits = outputs.logits
        loss = F.cross_entropy(logits.view(-1, VOCAB), targets.reshape(-1)) + router_losses(model.config, outputs)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            first = {"logits": logits.detach()} | {"d" + n: p.grad.clone() for n, p in named.items()}
        norms.append(torch.nn.utils.clip_grad_norm_(named.values(), CLIP).item())
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "grad_norms": norms}, first


def checkpoint_names(model):
    """Returns the name of each parameter in a checkpoint, which may differ from the model's."""
    renamed = {"GPTNeoXForCausalLM": {"lm_head.weight": "embed_out.weight"}}.get(type(model).__name__, {})
    return {name: renamed.get(name, name) for name, _ in model.named_parameters()}


# What the checkpoint calls the MLP with experts, and an expert's projections: gate, up and down.
EXPERTS = {"mixtral": ("block_sparse_moe", ("w1", "w3", "w2")),
           "qwen2_moe": ("mlp", ("gate_proj", "up_proj", "down_proj")),
           "qwen3_moe": ("mlp", ("gate_proj", "up_proj", "down_proj"))}


def checkpoint_stacks(family, tensors):
    """Tensors by the names of a checkpoint, those of all experts with a star for their number."""
    if family not in EXPERTS:
        return tensors
    mlp, (gate, up, down) = EXPERTS[family]
    stacks = {}
    for name, tensor in tensors.items():
        name = name.replace(".mlp.", f".{mlp}.")
        path = name.rpartition(".")[0]
        if name.endswith("experts.gate_up_proj"):
            stacks[f"{path}.*.{gate}.weight"], stacks[f"{path}.*.{up}.weight"] = tensor.chunk(2, dim=1)
        elif name.endswith("experts.down_proj"):
            stacks[f"{path}.*.{down}.weight"] = tensor
        else:
            stacks[name] = tensor
    return stacks


def unstacked(tensors):
    return {name.replace("*", str(number)): part for name, tensor in tensors.items()
            for number, part in enumerate(tensor if "*" in name else [tensor])}


def make_family(name, config, tokens):
    folder = FAMILIES / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    example = build(config, None, torch.float32)
    weights = initial_weights(example, config["model_type"].startswith("gemma"))
    names = checkpoint_names(example)
    stored = unstacked(checkpoint_stacks(config["model_type"], {names[n]: t for n, t in weights.items()}))
    write_safetensors(folder / "model.safetensors", {n: t.contiguous() for n, t in stored.items()}, {"format": "pt"})
    run, first = train(build(config, weights, torch.float32), tokens)
    high, _ = train(build(config, weights, torch.float64), tokens)
    inputs, targets = windows_of(tokens, 0)
    step = {"tokens": inputs.to(torch.int32), "targets": targets.to(torch.int32), "logits": first.pop("logits")}
    gradients = checkpoint_stacks(config["model_type"], {names[n[1:]]: t for n, t in first.items()})
    step |= {"d" + n: t for n, t in gradients.items()}
    write_safetensors(folder / "step.safetensors", {n: t.contiguous() for n, t in step.items()}, None)
    goldens = {"steps": STEPS, "batch": BATCH, "seq": SEQ, "optimizer": OPTIMIZER,
               "made_with": {"torch": torch.__version__, "transformers": transformers.__version__},
               "runs": {"clip": {"clip": CLIP, "float32": run}}}
    (folder / "goldens.json").write_text(json.dumps(goldens, indent=1) + "\n")
    off = np.max(np.abs(np.array(run["losses"]) / np.array(high["losses"]) - 1))
    print(f"{name}: loss {run['losses'][0]:.4f} to {run['losses'][-1]:.4f}, float64 off by at most {off:.1e}, "
          f"gradient norms {min(run['grad_norms']):.2f} to {max(run['grad_norms']):.2f}, "
          f"{sum(f.stat().st_size for f in folder.iterdir()) // 1024} KiB")


def main():
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    FAMILIES.mkdir(exist_ok=True)
    tokens = make_tokens()
    make_goldens.VOCAB = VOCAB
    write_tokens(FAMILIES / "tokens.bin", tokens)
    for name in sys.argv[1:] or CONFIGS:
        make_family(name, CONFIGS[name], tokens)


if __name__ == "__main__":
    main()
