"""PyTorch's side of bench/train: torch_train.py JOB.json, alone or on every rank as torchrun starts them.

Models are from transformers, with scaled_dot_product_attention. AdamW is fused, which is PyTorch's fastest on the CPU.
bf16 is autocast over f32 parameters. Rank 0 prints seconds and losses of the steps as JSON. FSDP2 shards each block and
then the rest, as its documentation says.
"""

import contextlib
import json
import pathlib
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
import transformers
from torch import nn

import weights

job = json.loads(pathlib.Path(sys.argv[1]).read_text())


class Mlp(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.gelu(layer(x), approximate="tanh")
        return self.layers[-1](x)


def make_model():
    config = job["config"]
    if job["kind"] == "mlp":
        return Mlp(config["layers"])
    names = {"gpt2": (transformers.GPT2Config, transformers.GPT2LMHeadModel),
             "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM)}
    make_config, make = names[job["kind"]]
    return make._from_config(make_config.from_dict(config), attn_implementation="sdpa")


def load(model):
    """Returns the parameters by name, with or without the first component of names."""
    tensors = weights.read_tensors(job["weights"])
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            found = next((key for key in (name, name.partition(".")[2]) if key in tensors), None)
            if found is None:
                sys.exit(f"torch_train: {job['weights']} has no {name}")
            parameter.copy_(torch.from_numpy(tensors[found]))
    return model.train()


def loss_of(model, inputs, targets):
    if job["kind"] == "mlp":
        return F.mse_loss(model(inputs).float(), targets)
    logits = model(input_ids=inputs, use_cache=False).logits
    return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.reshape(-1))


def blocks_of(model):
    return getattr(model, "transformer", None).h if job["kind"] == "gpt2" else model.model.layers if job["kind"] == "llama" else model.layers


def distribute(model):
    if job["mode"] == "ddp":
        return nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    from torch.distributed.fsdp import fully_shard
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for block in blocks_of(model):
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh) or model


def make_optimizer(model):
    return torch.optim.AdamW(model.parameters(), lr=job["lr"], betas=job["betas"], eps=1e-8, weight_decay=job["decay"], fused=True)


def train(rank, ranks):
    model = load(make_model())
    if ranks > 1:
        model = distribute(model)
    optimizer, batches = make_optimizer(model), weights.Batches(job)
    step_loss = torch.compile(loss_of) if job["mode"] == "compile" else loss_of
    half = torch.autocast("cpu", torch.bfloat16) if job["precision"] == "bf16" else contextlib.nullcontext()
    seconds, losses = [], []
    for step in range(job["steps"]):
        inputs, targets = (torch.from_numpy(array) for array in batches(step, rank, ranks))
        if ranks > 1:
            dist.barrier()
        start = time.perf_counter()
        with half:
            loss = step_loss(model, inputs, targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    return seconds, losses


def main():
    torch.set_num_threads(job["threads"])
    if job["ranks"] == 1:
        seconds, losses = train(0, 1)
    else:
        dist.init_process_group("gloo")
        ranks = dist.get_world_size()
        seconds, losses = map(torch.tensor, train(dist.get_rank(), ranks))
        dist.all_reduce(seconds, op=dist.ReduceOp.MAX)  # all wait for the slowest
        dist.all_reduce(losses)
        seconds, losses = seconds.tolist(), (losses / ranks).tolist()
        rank = dist.get_rank()
        dist.destroy_process_group()
        if rank:
            return
    print(json.dumps({"seconds": seconds, "losses": losses}))


main()
