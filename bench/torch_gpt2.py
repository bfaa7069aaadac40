"""GPT-2 as PyTorch trains it, for the benchmarks that stand beside it.

AdamW is the fused one, the fastest that PyTorch has on the CPU; the attention is
scaled_dot_product_attention.
"""

import torch
import torch.nn.functional as F
import transformers


def make_model(path):
    torch.manual_seed(0)
    config = transformers.GPT2Config.from_json_file(path)
    return transformers.GPT2LMHeadModel._from_config(config, attn_implementation="sdpa").train()


def make_optimizer(model):
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                             lr=1e-4, betas=(0.9, 0.95), fused=True)


def train_step(model, optimizer, window, batch, seq):
    """One step on batch * seq + 1 tokens; returns the loss."""
    logits = model(input_ids=window[:-1].view(batch, seq), use_cache=False).logits
    loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), window[1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()
