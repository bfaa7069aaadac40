"""The PyTorch side of bench/step: eager steps of a GPT-2, seconds a step as JSON.

Usage: torch_step.py CONFIG BATCH SEQ STEPS THREADS. AdamW is the fused one, the
fastest that PyTorch has on the CPU; the attention is scaled_dot_product_attention.
"""

import json
import sys
import time

import torch
import torch.nn.functional as F
import transformers

path = sys.argv[1]
batch, seq, steps, threads = map(int, sys.argv[2:])
torch.set_num_threads(threads)
torch.manual_seed(0)
config = transformers.GPT2Config.from_json_file(path)
model = transformers.GPT2LMHeadModel._from_config(config, attn_implementation="sdpa").train()

decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                              lr=1e-4, betas=(0.9, 0.95), fused=True)
tokens = torch.randint(config.vocab_size, (steps * batch * seq + 1,))
seconds = []
for step in range(steps):
    start = time.perf_counter()
    window = tokens[step * batch * seq:][:batch * seq + 1]
    logits = model(input_ids=window[:-1].view(batch, seq), use_cache=False).logits
    loss = F.cross_entropy(logits.view(-1, config.vocab_size), window[1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    loss.item()
    seconds.append(time.perf_counter() - start)
print(json.dumps({"seconds": seconds, "loss": loss.item()}))
