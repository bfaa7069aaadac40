"""GPT-2 and Llama in PyTorch: modules that return the loss.

The vocabulary is padded to a multiple of 64: a matmul over 50257 columns is slow, and no target is a padding column.
"""

import torch
import torch.nn.functional as F
from torch import nn


def padded(vocabulary):
    return -(-vocabulary // 64) * 64


def attend(q, k, v, batch, seq):
    """Causal attention on projections. If there are fewer heads of k and v than of q, several heads of q share one."""
    q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    grouped = {"enable_gqa": True} if k.shape[1] != q.shape[1] else {}
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, **grouped).transpose(1, 2).reshape(batch, seq, -1)


def loss_of(logits, targets):
    return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def initialize(model):
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, s, width = x.shape
        q, k, v = (t.view(b, s, self.heads, width // self.heads) for t in self.qkv(self.norm1(x)).split(width, 2))
        x = x + self.out(attend(q, k, v, b, s))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """The head is the token embedding."""

    def __init__(self, options):
        super().__init__()
        width = options.width
        self.tokens, self.positions = nn.Embedding(padded(options.vocabulary), width), nn.Embedding(options.seq, width)
        self.blocks = nn.ModuleList(GptBlock(width, options.heads) for _ in range(options.layers))
        self.norm = nn.LayerNorm(width)
        initialize(self)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return loss_of(F.linear(self.norm(x), self.tokens.weight), targets)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class LlamaBlock(nn.Module):
    """q, k and v are one matmul, and gate and up are another, which is fastest in PyTorch."""

    def __init__(self, width, heads, kv_heads, inner):
        super().__init__()
        self.heads, self.kv_heads, self.size, self.inner = heads, kv_heads, width // heads, inner
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-5), nn.RMSNorm(width, eps=1e-5)
        self.qkv = nn.Linear(width, width + 2 * kv_heads * self.size, bias=False)
        self.out, self.down = nn.Linear(width, width, bias=False), nn.Linear(inner, width, bias=False)
        self.gate_up = nn.Linear(width, 2 * inner, bias=False)

    def forward(self, x, cos, sin):
        b, s, width = x.shape
        kv = self.kv_heads * self.size
        q, k, v = self.qkv(self.norm1(x)).split((width, kv, kv), 2)
        q, k, v = q.view(b, s, self.heads, self.size), k.view(b, s, self.kv_heads, self.size), v.view(b, s, self.kv_heads, self.size)
        x = x + self.out(attend(rotate(q, cos, sin), rotate(k, cos, sin), v, b, s))
        gate, up = self.gate_up(self.norm2(x)).split(self.inner, 2)
        return x + self.down(F.silu(gate) * up)


class Llama(nn.Module):
    def __init__(self, options):
        super().__init__()
        width, size = options.width, options.width // options.heads
        self.tokens, self.head = (nn.Embedding(padded(options.vocabulary), width),
                                  nn.Linear(width, padded(options.vocabulary), bias=False))
        self.blocks = nn.ModuleList(LlamaBlock(width, options.heads, options.kv_heads, options.inner) for _ in range(options.layers))
        self.norm = nn.RMSNorm(width, eps=1e-5)
        rates = 10000.0 ** (-torch.arange(0, size, 2) / size)
        angles = torch.outer(torch.arange(options.seq), rates).repeat(1, 2)[:, None, :]
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        initialize(self)

    def forward(self, ids, targets):
        x = self.tokens(ids)
        cos, sin = self.cos.to(torch.bfloat16), self.sin.to(torch.bfloat16)
        for block in self.blocks:
            x = block(x, cos, sin)
        return loss_of(self.head(self.norm(x)), targets)


MODELS = {"gpt2": Gpt, "llama": Llama}
