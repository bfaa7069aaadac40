"""The PyTorch side of bench/parallel: one rank of DDP or FSDP2 over gloo.

Usage, under torchrun: torch_parallel.py ddp|fsdp2 CONFIG BATCH SEQ STEPS THREADS,
BATCH being that of a rank. Rank 0 prints seconds a step (the slowest rank's, as
all wait for it) and the largest resident size of a rank as JSON. FSDP2 shards each
block and then the rest, as its documentation says; AdamW is the fused one.
"""

import json
import resource
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

kind, path = sys.argv[1:3]
batch, seq, steps, threads = map(int, sys.argv[3:])
dist.init_process_group("gloo")
torch.set_num_threads(threads)
torch.manual_seed(0)
config = transformers.GPT2Config.from_json_file(path)
model = transformers.GPT2LMHeadModel._from_config(config, attn_implementation="sdpa").train()
if kind == "fsdp2":
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.transformer.h:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
else:
    model = DistributedDataParallel(model, gradient_as_bucket_view=True)

decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                              lr=1e-4, betas=(0.9, 0.95), fused=True)
torch.manual_seed(1 + dist.get_rank())
tokens = torch.randint(config.vocab_size, (steps * batch * seq + 1,))
seconds = []
for step in range(steps):
    dist.barrier()
    start = time.perf_counter()
    window = tokens[step * batch * seq:][:batch * seq + 1]
    logits = model(input_ids=window[:-1].view(batch, seq), use_cache=False).logits
    loss = F.cross_entropy(logits.view(-1, config.vocab_size), window[1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    loss.item()
    seconds.append(time.perf_counter() - start)

resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
worst = torch.tensor(seconds + [float(resident)], dtype=torch.float64)
dist.all_reduce(worst, op=dist.ReduceOp.MAX)
if dist.get_rank() == 0:
    print(json.dumps({"seconds": worst[:-1].tolist(), "resident": int(worst[-1]), "loss": loss.item()}))
dist.destroy_process_group()
