"""The models whose import bench/importing/measure.py checks, by name, and their batches."""

import dataclasses
import math
import os

os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import transformers as hf  # noqa: E402
from torch import nn  # noqa: E402


@dataclasses.dataclass
class Size:
    width: int = 32
    inner: int = 64
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    vocabulary: int = 64
    length: int = 8
    image: int = 16
    batch: int = 4


TINY = Size()
MEDIUM = Size(width=256, inner=1024, layers=4, heads=4, kv_heads=2, vocabulary=4096, length=128, image=64, batch=4)


def tokens(size):
    """Inputs of a language model, as named shapes; `tokens` and `targets` come from a text."""
    return {"input_ids": "tokens", "labels": "targets", "use_cache": False}



@dataclasses.dataclass
class Model:
    build: object
    """Returns the module; its forward returns a loss, or an object or a tuple with one."""
    inputs: object = tokens
    """Inputs by name: "tokens" or "targets" of a text, a Python value, or (shape of a row, float32 or number of classes)."""
    options: tuple = ()
    """Options of braid-import."""


def llama_like(size, **more):
    return dict(hidden_size=size.width, intermediate_size=size.inner, num_hidden_layers=size.layers,
                num_attention_heads=size.heads, vocab_size=size.vocabulary, max_position_embeddings=4 * size.length, **more)


def grouped(size, **more):
    return llama_like(size, num_key_value_heads=size.kv_heads, **more)


class NanoGPT(nn.Module):
    """A GPT in the manner of nanoGPT, whose head is the table of tokens."""

    class Block(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.heads = size.heads
            self.ln_1, self.ln_2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
            self.c_attn, self.c_proj = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
            self.up, self.down = nn.Linear(size.width, 4 * size.width), nn.Linear(4 * size.width, size.width)

        def forward(self, x):
            B, T, C = x.shape
            q, k, v = (part.view(B, T, self.heads, C // self.heads).transpose(1, 2)
                       for part in self.c_attn(self.ln_1(x)).split(C, dim=2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
            return x + self.down(F.gelu(self.up(self.ln_2(x))))

    def __init__(self, size):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(size.vocabulary, size.width), nn.Embedding(size.length, size.width)
        self.h = nn.ModuleList(self.Block(size) for _ in range(size.layers))
        self.ln_f, self.lm_head = nn.LayerNorm(size.width), nn.Linear(size.width, size.vocabulary, bias=False)
        self.wte.weight = self.lm_head.weight

    def forward(self, input_ids, labels):
        x = self.wte(input_ids) + self.wpe(torch.arange(input_ids.shape[1], device=input_ids.device))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), labels.view(-1), ignore_index=-1)


class Mixer(nn.Module):
    """MLP-Mixer: layers mix patches, then channels."""

    class Block(nn.Module):
        def __init__(self, patches, size):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(size.width), nn.LayerNorm(size.width)
            self.tokens = nn.Sequential(nn.Linear(patches, size.inner), nn.GELU(), nn.Linear(size.inner, patches))
            self.channels = nn.Sequential(nn.Linear(size.width, size.inner), nn.GELU(), nn.Linear(size.inner, size.width))

        def forward(self, x):
            x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
            return x + self.channels(self.norm2(x))

    def __init__(self, size, patch=4):
        super().__init__()
        self.patches = nn.Conv2d(3, size.width, patch, patch)
        self.h = nn.ModuleList(self.Block((size.image // patch) ** 2, size) for _ in range(size.layers))
        self.norm, self.head = nn.LayerNorm(size.width), nn.Linear(size.width, 10)

    def forward(self, pixel_values, labels):
        x = self.patches(pixel_values).flatten(2).transpose(1, 2)
        for block in self.h:
            x = block(x)
        logits = self.head(self.norm(x).mean(1))
        return F.cross_entropy(logits, labels), logits


class DiT(nn.Module):
    """The transformer of a diffusion model (Peebles and Xie 2023): time and class modulate the norms."""

    class Block(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.heads = size.heads
            self.norm1, self.norm2 = (nn.LayerNorm(size.width, elementwise_affine=False, eps=1e-6) for _ in range(2))
            self.qkv, self.proj = nn.Linear(size.width, 3 * size.width), nn.Linear(size.width, size.width)
            self.mlp = nn.Sequential(nn.Linear(size.width, size.inner), nn.GELU(approximate="tanh"),
                                     nn.Linear(size.inner, size.width))
            self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(size.width, 6 * size.width))

        def forward(self, x, c):
            shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(c).chunk(6, dim=1)
            B, N, C = x.shape
            y = self.norm1(x) * (1 + scale1.unsqueeze(1)) + shift1.unsqueeze(1)
            q, k, v = self.qkv(y).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C)
            x = x + gate1.unsqueeze(1) * self.proj(y)
            y = self.norm2(x) * (1 + scale2.unsqueeze(1)) + shift2.unsqueeze(1)
            return x + gate2.unsqueeze(1) * self.mlp(y)

    def __init__(self, size, channels=4, patch=2, classes=10):
        super().__init__()
        self.patch, self.channels, self.grid, self.width = patch, channels, size.image // 2 // patch, size.width
        self.patches = nn.Conv2d(channels, size.width, patch, patch)
        self.positions = nn.Parameter(torch.randn(1, self.grid ** 2, size.width) * 0.02, requires_grad=False)
        self.time = nn.Sequential(nn.Linear(size.width, size.width), nn.SiLU(), nn.Linear(size.width, size.width))
        self.classes = nn.Embedding(classes, size.width)
        self.h = nn.ModuleList(self.Block(size) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width, elementwise_affine=False, eps=1e-6)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(size.width, 2 * size.width))
        self.out = nn.Linear(size.width, patch * patch * channels)

    def forward(self, latents, time, classes, target):
        half = self.width // 2
        frequencies = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float32) / half)
        angles = time[:, None].float() * frequencies[None]
        waves = torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1).to(latents.dtype)
        c = self.time(waves) + self.classes(classes)
        x = self.patches(latents).flatten(2).transpose(1, 2) + self.positions
        for block in self.h:
            x = block(x, c)
        shift, scale = self.modulation(c).chunk(2, dim=1)
        x = self.out(self.norm(x) * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1))
        x = x.reshape(x.shape[0], self.grid, self.grid, self.patch, self.patch, self.channels)
        x = torch.einsum("nhwpqc->nchpwq", x).reshape(latents.shape)
        return F.mse_loss(x, target), x


def pictures(size):
    return {"pixel_values": ((3, size.image, size.image), torch.float32), "labels": ((), 10)}


def latents(size):
    shape = (4, size.image // 2, size.image // 2)
    return {"latents": (shape, torch.float32), "time": ((), torch.float32), "classes": ((), 10),
            "target": (shape, torch.float32)}


def ours(size):
    return {"input_ids": "tokens", "labels": "targets"}


MODELS = {
    "GPT-2": Model(lambda s: hf.GPT2LMHeadModel(hf.GPT2Config(
        n_embd=s.width, n_layer=s.layers, n_head=s.heads, n_inner=s.inner, vocab_size=s.vocabulary,
        n_positions=4 * s.length, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))),
    "Llama": Model(lambda s: hf.LlamaForCausalLM(hf.LlamaConfig(**grouped(s, pad_token_id=None)))),
    "Qwen2": Model(lambda s: hf.Qwen2ForCausalLM(hf.Qwen2Config(**grouped(s)))),
    "Qwen3": Model(lambda s: hf.Qwen3ForCausalLM(hf.Qwen3Config(**grouped(s, head_dim=s.width // s.heads)))),
    "Gemma-2": Model(lambda s: hf.Gemma2ForCausalLM(hf.Gemma2Config(
        **grouped(s, head_dim=s.width // s.heads, sliding_window=s.length // 2, pad_token_id=None)))),
    "Gemma-3": Model(lambda s: hf.Gemma3ForCausalLM(hf.Gemma3TextConfig(
        **grouped(s, head_dim=s.width // s.heads, sliding_window=s.length // 2, pad_token_id=None)))),
    "Mixtral": Model(lambda s: hf.MixtralForCausalLM(hf.MixtralConfig(**grouped(s, num_local_experts=4)))),
    "Phi": Model(lambda s: hf.PhiForCausalLM(hf.PhiConfig(**grouped(s, resid_pdrop=0, embd_pdrop=0)))),
    "BERT": Model(lambda s: hf.BertForMaskedLM(hf.BertConfig(
        **llama_like(s, hidden_dropout_prob=0, attention_probs_dropout_prob=0))), ours),
    "T5": Model(lambda s: hf.T5ForConditionalGeneration(hf.T5Config(
        d_model=s.width, d_kv=s.width // s.heads, d_ff=s.inner, num_layers=s.layers, num_heads=s.heads,
        vocab_size=s.vocabulary, dropout_rate=0, decoder_start_token_id=0))),
    "ViT": Model(lambda s: hf.ViTForImageClassification(hf.ViTConfig(
        hidden_size=s.width, intermediate_size=s.inner, num_hidden_layers=s.layers, num_attention_heads=s.heads,
        image_size=s.image, patch_size=4, num_labels=10, hidden_dropout_prob=0, attention_probs_dropout_prob=0)), pictures),
    "nanoGPT": Model(NanoGPT, ours),
    "MLP-Mixer": Model(Mixer, pictures),
    "DiT": Model(DiT, latents, ("--input=classes=features",)),
}


def build(name, size):
    """Returns the module, with norms and biases that are not all alike."""
    torch.manual_seed(0)
    model = MODELS[name].build(size).train()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, parameter.mean().item(), 0.3)
    return model


def batches(name, size, text, steps):
    """Returns the inputs of each step. `text` has the tokens, steps * batch * length + 1 of them."""
    described = MODELS[name].inputs(size)
    draw = torch.Generator().manual_seed(1)
    rows = {}
    for key, what in described.items():
        if isinstance(what, tuple):
            shape = (steps * size.batch, *what[0])
            rows[key] = (torch.randn(shape, generator=draw) if what[1] is torch.float32
                         else torch.randint(0, what[1], shape, generator=draw))
    count = size.batch * size.length
    for step in range(steps):
        window = torch.from_numpy(text[step * count:][:count + 1].astype("int64"))
        found = {"tokens": window[:-1].reshape(size.batch, size.length).clone(),
                 "targets": window[1:].reshape(size.batch, size.length).clone()}
        yield {key: rows[key][step * size.batch:][:size.batch].clone() if key in rows else
               found[what] if isinstance(what, str) else what for key, what in described.items()}
