"""Small models for tests, with batches."""

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, BATCH, LENGTH = 32, 4, 8


class Mixer(nn.Module):
    """A network of its own kind: a shared projection, an auxiliary loss, a frozen table and dropout on demand."""

    def __init__(self, size=8, classes=5, dropout=0.0):
        super().__init__()
        self.down = nn.Linear(size, 4)
        self.across = nn.Linear(LENGTH, LENGTH)
        self.up = nn.Linear(4, size)
        self.norm = nn.LayerNorm(size)
        self.head = nn.Linear(size, classes)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("shift", torch.linspace(0, 1, LENGTH * size).reshape(LENGTH, size))

    def forward(self, x):
        h = self.down(x + self.shift)
        h = h + functional.gelu(self.across(h.transpose(1, 2)).transpose(1, 2))
        return self.head(self.drop(self.norm(x + self.up(h)))).mean(1)


def mixer_loss(output, batch):
    """Cross-entropy, and a penalty of large outputs."""
    return functional.cross_entropy(output, batch[1]) + 1e-2 * (output * output).mean()


def mixer_batches(count, rows=BATCH):
    generator = torch.Generator().manual_seed(1)
    return [(torch.randn(rows, LENGTH, 8, generator=generator), torch.randint(0, 5, (rows,), generator=generator))
            for _ in range(count)]


def token_batches(count, rows=BATCH):
    generator = torch.Generator().manual_seed(2)
    batches = []
    for _ in range(count):
        tokens = torch.randint(0, VOCABULARY, (rows, LENGTH), generator=generator)
        labels = tokens.clone()
        labels[0, :3] = -100
        batches.append({"input_ids": tokens, "labels": labels, "use_cache": False})
    return batches


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=VOCABULARY, n_positions=16, resid_pdrop=0,
                                      embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0))


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(hidden_size=16, intermediate_size=32, num_attention_heads=2, num_key_value_heads=1,
                                        vocab_size=VOCABULARY, max_position_embeddings=16, num_hidden_layers=1,
                                        pad_token_id=None))


def make(name):
    """Returns a model in training mode, ten batches, and what computes its loss in PyTorch."""
    torch.manual_seed(0)
    model = {"mixer": Mixer, "gpt2": gpt2, "llama": llama}[name]().train()
    if name == "mixer":
        return model, mixer_batches(10), mixer_loss, lambda m, batch: mixer_loss(m(batch[0]), batch)
    return model, token_batches(10), None, lambda m, batch: m(**batch).loss


def same(found, wanted, tolerance=1e-5):
    """Whether two tensors are equal, relative to the largest element."""
    return (found - wanted).abs().max() <= tolerance * wanted.abs().max().clamp_min(1e-3)
