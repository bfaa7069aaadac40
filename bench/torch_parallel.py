"""The PyTorch side of bench/parallel: one rank of DDP or FSDP2 over gloo.

Usage, under torchrun: torch_parallel.py ddp|fsdp2 CONFIG BATCH SEQ STEPS THREADS,
BATCH being that of a rank. Rank 0 prints seconds a step (the slowest rank's, as
all wait for it) and the largest resident size of a rank as JSON. FSDP2 shards each
block and then the rest, as its documentation says.
"""

import json
import resource
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import torch_gpt2

kind, path = sys.argv[1:3]
batch, seq, steps, threads = map(int, sys.argv[3:])
dist.init_process_group("gloo")
torch.set_num_threads(threads)
model = torch_gpt2.make_model(path)
vocabulary = model.config.vocab_size
if kind == "fsdp2":
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for block in model.transformer.h:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
else:
    model = DistributedDataParallel(model, gradient_as_bucket_view=True)

optimizer = torch_gpt2.make_optimizer(model)
torch.manual_seed(1 + dist.get_rank())
tokens = torch.randint(vocabulary, (steps * batch * seq + 1,))
seconds = []
for step in range(steps):
    dist.barrier()
    start = time.perf_counter()
    window = tokens[step * batch * seq:][:batch * seq + 1]
    loss = torch_gpt2.train_step(model, optimizer, window, batch, seq)
    seconds.append(time.perf_counter() - start)

resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
worst = torch.tensor(seconds + [float(resident)], dtype=torch.float64)
dist.all_reduce(worst, op=dist.ReduceOp.MAX)
if dist.get_rank() == 0:
    print(json.dumps({"seconds": worst[:-1].tolist(), "resident": int(worst[-1]), "loss": loss}))
dist.destroy_process_group()
