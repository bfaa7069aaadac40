#!/usr/bin/env python3
"""Writes the exported programs of the tests, and what PyTorch computes with them. Needs torch and transformers.

  make_fixtures.py [NAME...]

For each model Inputs/NAME.pt2, as torch.export.save writes it but without sample inputs, fields of calls and of values
that are not read, modules around the innermost one, and frames of a stack trace that come before the last one outside of
PyTorch; and NAME.golden.safetensors:

  input.*     the first batch
  loss        the losses of ten steps of AdamW (f32[10])
  grad.*      gradients of the first step
  after.*     parameters after the last step

Batches are the consecutive rows of Inputs/tokens.bin. A large epsilon of AdamW keeps elements from moving by the
rounding errors of gradients that are 0.
"""
import io
import json
import os
import sys
import warnings
import zipfile
from pathlib import Path

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")

import numpy
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F
from transformers import (Gemma2Config, Gemma2ForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM,
                          MixtralConfig, MixtralForCausalLM, PhiConfig, PhiForCausalLM, Qwen3Config, Qwen3ForCausalLM,
                          T5Config, T5ForConditionalGeneration)

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import pt2

INPUTS = Path(__file__).parent / "Inputs"
BATCH, SEQUENCE, STEPS, VOCABULARY = 4, 8, 10, 32
TINY = {"hidden_size": 16, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1,
        "vocab_size": VOCABULARY, "max_position_embeddings": 16}


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(size, 3 * size)
        self.c_proj = nn.Linear(size, size)

    def forward(self, x):
        batch, length, size = x.shape
        parts = self.c_attn(x).split(size, dim=2)
        q, k, v = (part.view(batch, length, self.heads, size // self.heads).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(batch, length, size))


class Block(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(size)
        self.attn = Attention(size, heads)
        self.ln_2 = nn.LayerNorm(size)
        self.c_fc = nn.Linear(size, 4 * size)
        self.c_proj = nn.Linear(4 * size, size)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))


class NanoGPT(nn.Module):
    """A GPT in the manner of nanoGPT, whose head is the table of tokens."""

    def __init__(self, vocabulary=VOCABULARY, length=16, size=16, heads=2, layers=2):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, size)
        self.wpe = nn.Embedding(length, size)
        self.h = nn.ModuleList(Block(size, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(size)
        self.lm_head = nn.Linear(size, vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1], device=idx.device))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


MODELS = {
    "nanogpt": NanoGPT,
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=VOCABULARY, n_positions=16,
                                               resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**TINY, num_hidden_layers=1, pad_token_id=None)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**TINY, num_hidden_layers=1, head_dim=8)),
    "gemma2": lambda: Gemma2ForCausalLM(Gemma2Config(**TINY, num_hidden_layers=2, head_dim=8, sliding_window=4,
                                                     pad_token_id=None)),
    "phi": lambda: PhiForCausalLM(PhiConfig(**{**TINY, "num_key_value_heads": 2}, num_hidden_layers=1, resid_pdrop=0,
                                            embd_pdrop=0)),
    "mixtral": lambda: MixtralForCausalLM(MixtralConfig(**TINY, num_hidden_layers=1, num_local_experts=4)),
    "t5": lambda: T5ForConditionalGeneration(T5Config(d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
                                                      vocab_size=VOCABULARY, dropout_rate=0, decoder_start_token_id=0)),
}


def trim(trace):
    """Returns the last frame outside of PyTorch, with the file below site-packages or the checkout."""
    frames = [part for part in trace.split('File "')[1:]]
    users = [part for part in frames if "/torch/" not in part.split('"')[0]]
    if not users:
        return ""
    file, rest = users[-1].split('"', 1)
    for root in ("site-packages/", str(Path(__file__).parents[2]) + "/"):
        file = file.split(root)[-1]
    return f'File "{file}"{rest.splitlines()[0]}'


def slim(root):
    """Removes from the JSON of a program what is not read."""
    graph = root["graph_module"]["graph"]
    for node in graph["nodes"]:
        metadata = node["metadata"]
        node.pop("is_hop_single_tensor_return", None)
        node.pop("name", None)
        for argument in node["inputs"]:
            argument.pop("kind", None)
        node["metadata"] = {"stack_trace": trim(metadata.get("stack_trace", "")),
                            "nn_module_stack": metadata.get("nn_module_stack", "").split(";")[-1]}
    for value in graph["tensor_values"].values():
        for field in ("device", "layout", "storage_offset", "strides"):
            value.pop(field, None)
    root["graph_module"]["module_call_graph"] = []


def save(program, path):
    """Writes what torch.export.save writes, without what is not read."""
    stream = io.BytesIO()
    torch.export.save(program, stream)
    archive = zipfile.ZipFile(stream)
    entries = {}
    for name in archive.namelist():
        below = name.partition("/")[2]
        if below.startswith("models/"):
            root = json.loads(archive.read(name))
            slim(root)
            entries[below] = json.dumps(root, separators=(",", ":")).encode()
        elif not below.startswith("data/sample_inputs/"):
            entries[below] = archive.read(name)
    pt2.write(entries, path)


def batches():
    tokens = numpy.fromfile(INPUTS / "tokens.bin", numpy.uint16).astype(numpy.int64)
    count = BATCH * SEQUENCE
    for step in range(STEPS):
        rows = torch.from_numpy(tokens[step * count:][:count + 1])
        yield rows[:-1].reshape(BATCH, SEQUENCE), rows[1:].reshape(BATCH, SEQUENCE)


def fixture(name):
    torch.manual_seed(0)
    model = MODELS[name]().train()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, parameter.mean().item(), 0.3)
    is_ours = isinstance(model, NanoGPT)

    def words(tokens, targets):
        return {"idx": tokens, "targets": targets} if is_ours else {
            "input_ids": tokens, "labels": targets, "use_cache": False}

    # An export merges inputs that are the same object.
    first, *_ = batches()
    save(torch.export.export(model, (), words(*(tensor.clone() for tensor in first))), INPUTS / f"{name}.pt2")
    golden = {f"input.{key}": value.int() for key, value in words(*first).items() if key != "use_cache"}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), eps=1e-3, weight_decay=0.1)
    losses = []
    for tokens, targets in batches():
        output = model(**words(tokens, targets))
        loss = output[1] if is_ours else output.loss
        optimizer.zero_grad()
        loss.backward()
        if not losses:
            golden |= {f"grad.{key}": value.grad.clone() for key, value in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    golden["loss"] = torch.tensor(losses)
    golden |= {f"after.{key}": value.detach().clone() for key, value in model.named_parameters()}
    path = INPUTS / f"{name}.golden.safetensors"
    save_file({key: value.contiguous() for key, value in golden.items()}, path)
    path.chmod(0o644)
    print(name, [round(loss, 4) for loss in losses])


def main():
    (numpy.random.default_rng(0).integers(0, VOCABULARY, BATCH * SEQUENCE * STEPS + 1).astype(numpy.uint16)
     .tofile(INPUTS / "tokens.bin"))
    for name in sys.argv[1:] or MODELS:
        fixture(name)


main()
