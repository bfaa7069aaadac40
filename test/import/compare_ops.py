#!/usr/bin/env python3
"""Compares imported ops with PyTorch: results, and gradients of float inputs.

  compare_ops.py BIN [NAME...]

Each case is a function of tensors. It is exported with its inputs as parameters, and ops that the table lacks are taken
apart as `braid.export` does. It is imported, and differentiated and run by braid-interp with the tensors' values. Needs
torch and safetensors; exits with 77 without them. A new row needs a case here.
"""
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
import op_cases
from braid import decomposing

try:
    import torch
    import torch.nn.functional as F
    from safetensors.torch import load_file, save_file
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TOLERANCE = 5e-6


def floats(*shape, low=-2.0, high=2.0):
    return torch.rand(shape, generator=RANDOM) * (high - low) + low


def positive(*shape):
    return floats(*shape, low=0.5, high=2.0)


def integers(*shape, high=4):
    return torch.randint(0, high, shape, generator=RANDOM)


RANDOM = torch.Generator().manual_seed(1)
X, Y, POSITIVE, ROW = floats(2, 3, 4), floats(2, 3, 4), positive(2, 3, 4), floats(4)
HEADS = [floats(2, 4, 5, 6), floats(2, 2, 5, 6), floats(2, 2, 5, 6)]
CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()


def attention(q, k, v, **options):
    return F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), **options)


def sliding(q, k, v):
    position = torch.arange(5)
    near = (position[None, :] <= position[:, None]) & (position[None, :] > position[:, None] - 3)
    return F.scaled_dot_product_attention(q, k[:, :, None].expand(2, 2, 2, 5, 6).reshape(2, 4, 5, 6),
                                          v[:, :, None].expand(2, 2, 2, 5, 6).reshape(2, 4, 5, 6), attn_mask=near)


def rms(x, w):
    return w * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


def rotary(x):
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[2])[:, None] * (10000.0 ** (-torch.arange(half) / half))
    angles = torch.cat([angles, angles], -1)
    return x * angles.cos() + torch.cat([-x[..., half:], x[..., :half]], -1) * angles.sin()


# Name: function, tensors. The ops of an export are those that it calls.
def written(x, y):
    """A tensor whose parts are overwritten, one behind another."""
    z = torch.zeros_like(x)
    z[:, 1:] = y * 2
    z[:, 0].copy_(x[:, 2])
    z[:, 2, 1:3] += 1.5
    return z * x


def bucket(size):
    """Numbers of the distance of two positions, as in T5."""
    distance = torch.arange(size)[None, :] - torch.arange(size)[:, None]
    far = (2 + (distance.abs().float() / 2).log().clamp(min=0) * 2).to(torch.int64)
    near = torch.where(distance.abs() < 2, distance.abs(), torch.min(far, torch.full_like(far, 3)))
    return (distance > 0).to(torch.int64) * 4 + near


def rotary_pairs(x):
    """A rotary embedding of neighboring lanes."""
    angles = torch.outer(torch.arange(5).float(), 1.0 / 100.0 ** (torch.arange(0, 8, 2).float() / 8))
    cos, sin, even, odd = angles.cos()[:, None], angles.sin()[:, None], x[..., ::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(3)


def routed(x, scores, up, down):
    """A mixture of experts that sorts tokens by expert, as Transformers does."""
    rows = x.view(-1, 8)
    weights, chosen = scores.view(-1, 4).topk(2)
    experts, order = chosen.reshape(-1).sort()
    ends = torch.histc(experts.float(), bins=4, min=0, max=3).cumsum(0, dtype=torch.int32)
    wide = F.silu(F.grouped_mm(rows[order // 2], up, offs=ends))
    narrow = F.grouped_mm(wide, down, offs=ends) * weights.reshape(-1)[order].unsqueeze(-1)
    places = torch.empty_like(order)
    places[order] = torch.arange(12)
    return narrow[places].view(6, 2, 8).sum(1)


def quiet(x):
    with torch.no_grad():
        scale = x.abs().amax(-1, keepdim=True)
    return x / scale


def interleaved(x):
    """The same as GPT-J spells it, with tables of whole heads."""
    angles = torch.outer(torch.arange(5).float(), 1.0 / 100.0 ** (torch.arange(0, 8, 2).float() / 8))
    cos, sin = (table.repeat_interleave(2, -1)[:, None] for table in (angles.cos(), angles.sin()))
    return x * cos + torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2) * sin


def joined(*results):
    """Results of several ops in one case."""
    return torch.cat([result.float().flatten() for result in results])


@torch.no_grad()
def frozen(x):
    return F.softshrink(x) + F.hardshrink(x)


def conditions(x):
    big = x > 0.5
    return joined(big.any(), big.any(1), big.all(2), big.any(2) ^ big.all(2), big.sum(), big.cumsum(1), big.sum(-1) // 2,
                  big.sum(-1) % 3, 2 - big.sum(-1), -big.sum(-1), (1 - big.sum(-1)).abs(), big.sum(-1).clamp(1, 2),
                  big * (x < 1), big | (x < 0)) * x.mean()


CASES = {
    "add": (lambda x, y: x + y, [X, ROW]),
    "add_alpha": (lambda x, y: torch.add(x, y, alpha=3), [X, Y]),
    "add_scalar": (lambda x: x + 2, [X]),
    "sub": (lambda x, y: x - y, [X, Y]),
    "sub_scalar": (lambda x: x - 0.25, [X]),
    "rsub": (lambda x: 1 - x, [X]),
    "mul": (lambda x, y: x * y, [X, ROW]),
    "div": (lambda x, y: x / y, [X, POSITIVE]),
    "div_scalar": (lambda x: x / 3, [X]),
    "pow2": (lambda x: x ** 2, [X]),
    "pow3": (lambda x: x.pow(3.0), [X]),
    "pow_half": (lambda x: x ** 0.5, [POSITIVE]),
    "pow_minus_half": (lambda x: x ** -0.5, [POSITIVE]),
    "pow_other": (lambda x: x ** 1.7, [POSITIVE]),
    "maximum": (torch.maximum, [X, Y]),
    "minimum": (torch.minimum, [X, Y]),
    "clamp": (lambda x: x.clamp(-1, 0.5), [X]),
    "neg": (lambda x: -x, [X]),
    "abs": (torch.abs, [X]),
    "exp": (torch.exp, [X]),
    "log": (torch.log, [POSITIVE]),
    "sqrt": (torch.sqrt, [POSITIVE]),
    "rsqrt": (torch.rsqrt, [POSITIVE]),
    "tanh": (torch.tanh, [X]),
    "erf": (torch.erf, [X]),
    "sin": (torch.sin, [X]),
    "cos": (torch.cos, [X]),
    "sigmoid": (torch.sigmoid, [X]),
    "gelu": (F.gelu, [X]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), [X]),
    "gelu_by_formula": (lambda x: 0.5 * x * (1 + torch.tanh(0.7978845608028654 * (x + 0.044715 * x.pow(3)))), [X]),
    "gelu_erf_by_formula": (lambda x: x * 0.5 * (1 + torch.erf(x / 2 ** 0.5)), [X]),
    "silu": (F.silu, [X]),
    "relu": (F.relu, [X]),
    "detach": (lambda x: x * x.detach(), [X]),
    "contiguous": (lambda x: x.transpose(0, 1).contiguous().clone(), [X]),
    "where": (lambda x, y: torch.where(x > y, x, y * 2), [X, Y]),
    "where_scalar": (lambda x: torch.where(x <= 0.5, x, 0.0), [X]),
    "masked_fill": (lambda x: x.masked_fill(x < 0, -1.5), [X]),
    "compare": (lambda x, y: torch.where((x >= y) & (y != 0.1) & ~(x == 1.0), x, y), [X, Y]),
    "view": (lambda x: x.view(6, 4) * 2, [X]),
    "flatten": (lambda x: x.flatten(1) * 2, [X]),
    "unsqueeze": (lambda x: x.unsqueeze(1).squeeze(1) * 2, [X]),
    "expand": (lambda x: x[:, None].expand(3, 5, 4) * 1.5, [floats(3, 4)]),
    "transpose": (lambda x: x.transpose(-1, 0) * 2, [X]),
    "permute": (lambda x: x.permute(2, 0, 1) * 2, [X]),
    "t": (lambda x: x.t() * 2, [floats(3, 4)]),
    "slice": (lambda x: x[:, 1:, -3:] * 2, [X]),
    "slice_step": (lambda x: x[..., ::2] * 2, [X]),
    "select": (lambda x: x[:, -1] * 2, [X]),
    "split": (lambda x: torch.cat(x.split(2, -1)[::-1], -1) * 2, [X]),
    "split_sizes": (lambda x: x.split([1, 3], -1)[1] * 2, [X]),
    "chunk": (lambda x: x.chunk(2, -1)[0] * x.chunk(2, -1)[1], [X]),
    "unbind": (lambda x: x.unbind(1)[2] * 2, [X]),
    "cat": (lambda x, y: torch.cat([x, y], 1) * 2, [X, Y]),
    "stack": (lambda x, y: torch.stack([x, y], 1) * 2, [X, Y]),
    "pad": (lambda x: F.pad(x, (1, 2, -1, 0), value=0.5) * 2, [X]),
    "embedding": (lambda w, i: F.embedding(i, w), [floats(4, 3), integers(2, 5)]),
    "embedding_padding": (lambda w, i: F.embedding(i, w, padding_idx=1), [floats(4, 3), integers(2, 5)]),
    "positions": (lambda w: F.embedding(torch.arange(3).unsqueeze(0).expand(2, -1), w) * 2, [floats(4, 3)]),
    "sum": (lambda x: x.sum(), [X]),
    "sum_dims": (lambda x: x.sum((0, 2), keepdim=True) * 2, [X]),
    "mean": (lambda x: x.mean(), [X]),
    "mean_dim": (lambda x: x.mean(-1) * 2, [X]),
    "amax": (lambda x: x.amax(-1) * 2, [X]),
    "var": (lambda x: x.var(-1), [X]),
    "var_biased": (lambda x: x.var(-1, unbiased=False, keepdim=True), [X]),
    "linear": (F.linear, [X, floats(5, 4), floats(5)]),
    "linear_without_bias": (F.linear, [X, floats(5, 4)]),
    "addmm": (torch.addmm, [floats(5), floats(3, 4), floats(4, 5)]),
    "mm": (torch.mm, [floats(3, 4), floats(4, 5)]),
    "bmm": (torch.bmm, [floats(2, 3, 4), floats(2, 4, 5)]),
    "matmul": (torch.matmul, [floats(2, 3, 4, 5), floats(2, 1, 5, 6)]),
    "matmul_matrix": (torch.matmul, [X, floats(4, 5)]),
    "einsum": (lambda x, w: torch.einsum("bsd,de->bse", x, w), [X, floats(4, 5)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b, 1e-4), [X, ROW, floats(4)]),
    "layer_norm_plain": (lambda x: F.layer_norm(x, (4,)), [X]),
    "rms_norm": (lambda x, w: F.rms_norm(x, (4,), w, 1e-4), [X, ROW]),
    "rms_norm_by_formula": (rms, [X, ROW]),
    "rms_norm_offset": (lambda x, w: rms(x, 1 + w), [X, ROW]),
    "softmax": (lambda x: F.softmax(x, -1), [X]),
    "softmax_dim": (lambda x: F.softmax(x, 1), [X]),
    "attention": (attention, HEADS),
    "attention_causal": (lambda q, k, v: attention(q, k, v, is_causal=True, scale=0.3), HEADS),
    "attention_sliding": (sliding, HEADS),
    "attention_masked_groups": (lambda q, k, v, m: F.scaled_dot_product_attention(
        q, k, v, attn_mask=(m > 0)[:, None, None, :] | torch.eye(5, dtype=torch.bool), enable_gqa=True),
        [*HEADS, integers(2, 5, high=2)]),
    "batch_norm": (lambda x, m, v, w, b: F.batch_norm(x, m.detach(), v.detach(), w, b, eps=0.01),
                   [floats(2, 4, 3), ROW, positive(4), floats(4), floats(4)]),
    "rotary_pairs": (rotary_pairs, [floats(2, 5, 3, 8)]),
    "rotary": (rotary, [floats(2, 3, 5, 8)]),
    "cross_entropy": (lambda x, t: F.cross_entropy(x.view(6, 4), t.view(6)), [X, integers(2, 3)]),
    "cross_entropy_sum": (lambda x, t: F.cross_entropy(x, t, reduction="sum", ignore_index=2), [floats(6, 4), integers(6)]),
    "label_smoothing": (lambda x, t: F.cross_entropy(x, t, ignore_index=2, label_smoothing=0.2), [floats(6, 4), integers(6)]),
    "label_smoothing_sum": (lambda x, t: F.cross_entropy(x, t, reduction="sum", label_smoothing=0.2), [X[0], integers(3)]),
    "experts": (routed, [floats(2, 3, 8), floats(2, 3, 4), floats(4, 8, 8), floats(4, 8, 8)]),
    "no_grad": (quiet, [X]),
    "mse": (F.mse_loss, [X, Y]),
    "mse_none": (lambda x, y: F.mse_loss(x, y, reduction="none"), [X, Y]),
    "bce": (lambda x, y: F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)), [X, Y]),
    "square": (torch.square, [X]),
    "reciprocal": (torch.reciprocal, [POSITIVE]),
    "clamp_min": (lambda x: x.clamp_min(0.1), [X]),
    "clamp_max": (lambda x: x.clamp_max(0.1), [X]),
    "max_other": (lambda x, y: torch.max(x, y) * torch.min(x * 2, y), [X, Y]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.2), [X]),
    "glu": (lambda x: F.glu(x, -1), [X]),
    "addcmul": (lambda x, y, z: torch.addcmul(x, y, z, value=0.3), [X, Y, POSITIVE]),
    "tril": (lambda x: x.tril(-1), [X]),
    "triu": (lambda x: x.triu(1), [X]),
    "logsumexp": (lambda x: x.logsumexp(-1, keepdim=True), [X]),
    "log_softmax": (lambda x: F.log_softmax(x, 1), [X]),
    "vector_norm": (lambda x: F.normalize(x, dim=-1), [X]),
    "cumsum": (lambda x: x.cumsum(1) + x.cumprod(2), [X]),
    "cdist": (lambda x, y: torch.cdist(x, y[:, :2]) + torch.cdist(x, y[0, 1:], p=1.0), [X, Y]),
    "topk": (lambda x: x.topk(2).values, [X]),
    "max_dim": (lambda x: x.max(1).values, [X]),
    "max": (lambda x: x.max() * x, [X]),
    "amin": (lambda x: x.amin(1, keepdim=True) * 2, [X]),
    "argmax": (lambda x: x * F.one_hot(x.argmax(-1), 4), [X]),
    "take_along_dim": (lambda x: torch.take_along_dim(x, x.argmax(1, keepdim=True), 1) * 2, [X]),
    "gather": (lambda x, i: x.gather(2, i), [X, integers(2, 3, 5)]),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b, 1e-3), [floats(2, 4, 3, 2), ROW, floats(4)]),
    "repeat": (lambda x: x.repeat(2, 1, 1, 3), [X]),
    "roll": (lambda x: x.roll((1, -1), (1, 2)) * 2, [X]),
    "narrow": (lambda x: x.narrow(1, 1, 2) * 2, [X]),
    "movedim": (lambda x: x.movedim(0, 2).mT * 2, [X]),
    "std": (lambda x: x.std(-1), [X]),
    "std_all": (lambda x: torch.std(x, correction=0) * x, [X]),
    "einsum_one": (lambda x: torch.einsum("bsd->db", x), [X]),
    "l1": (F.l1_loss, [X, Y]),
    "smooth_l1": (lambda x, y: F.smooth_l1_loss(x, y, beta=0.7), [X, Y]),
    "huber": (lambda x, y: F.huber_loss(x, y, delta=0.7), [X, Y]),
    "write_slice": (written, [X, floats(2, 2, 4)]),
    "steps": (lambda w: F.embedding(bucket(9) , w), [floats(8, 3)]),
    "steps_of_floats": (lambda x: joined(x.sign(), x.floor(), x.ceil(), x.trunc(), x.round(), (x * 2).round(), x.detach() // 0.3,
                                         x % 0.7, torch.div(x, 0.3, rounding_mode="trunc")) * x.mean(), [X]),
    "functions": (lambda x: joined(x.expm1(), x.exp2(), x.tan() * 0.01, x.sinh(), x.cosh(), (x / 3).atanh()), [X]),
    "functions far from 0": (lambda x, y: joined(x.sinh() * 1e-8, x.cosh() * 1e-8, y.atanh(), y.asin(), y.acos()),
                             [20 * torch.linspace(-1, 1, 24), 0.95 * torch.linspace(-1, 1, 24)]),
    "angles": (lambda x, y: joined(x.atan(), torch.atan2(x, y), (x * 100).atan(), (x / 3).asin(), (x / 3).acos()), [X, Y]),
    "inverse functions": (lambda x, y: joined(x.asinh(), (y + 0.6).acosh(), (x / 2.1).erfinv()), [X, POSITIVE]),
    "erfc": (lambda x: joined(x.erfc(), (4 * x).erfc() * 1e6), [X]),
    "fmod": (lambda x, y: joined(torch.fmod(x, y), torch.fmod(x, 0.3), torch.fmod(x, -0.7)), [X, POSITIVE]),
    "quotients of whole numbers": (
        lambda x, y: joined(torch.remainder(x, 0.1), torch.div(x, 0.1, rounding_mode="floor"), torch.remainder(x, y),
                            x.detach() // y.detach(), torch.isfinite(x.detach() // 0.0) * x),
        [torch.arange(-12.0, 12) / 2, torch.tensor([0.1, -0.1, 0.5, -0.3] * 6)]),
    "saturated sigmoid": (lambda x: joined(x.sigmoid(), (x + torch.tensor([-1e9, 0, 0, 50])).sigmoid(), F.glu(x),
                                           F.binary_cross_entropy(x.sigmoid(), (x.detach() > 0).float())),
                          [torch.tensor([[-100.0, -90, -60, -1], [0, 1, 60, 100]])]),
    "rows without a key": (
        lambda q, k, v, keep: joined(F.scaled_dot_product_attention(q, k, v, attn_mask=keep > 0),
                                     F.scaled_dot_product_attention(q, k, v, attn_mask=torch.where(keep > 0, 0.0, -torch.inf))),
        [floats(1, 2, 4, 3), floats(1, 2, 4, 3), floats(1, 2, 4, 3), torch.tensor([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 1], [0, 0, 0, 1]])]),
    "causal attention of fewer queries": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
                                          [floats(1, 2, 3, 4), floats(1, 2, 5, 4), floats(1, 2, 5, 4)]),
    "attention without heads": (lambda q, k, v, keep: F.scaled_dot_product_attention(q, k, v, attn_mask=keep > 0),
                                [floats(2, 5, 3), floats(2, 5, 3), floats(2, 5, 3), integers(2, 5, 5, high=2)]),
    "integers beside fractions": (lambda x, i: joined(i < 1.5, i >= 0.5, i == 1.5, x < 1) * x.mean(), [X, integers(2, 3)]),
    "deviations of equal numbers": (lambda x: joined(x.std(-1), *torch.std_mean(x, 0, correction=0)),
                                    [torch.tensor([[1.0, 1, 1], [1, 2, 3]])]),
    "powers of 0": (lambda x, y: joined(x[:, None] ** torch.arange(3), x ** y, torch.sinc(x)),
                    [torch.tensor([0.0, 2, 1.5]), torch.tensor([1.0, 0, 2])]),
    "bounds": (lambda x: joined(F.elu(x), F.elu(x, 2.0), F.selu(x), F.celu(x, 0.5), x.clamp(0, 1), x.clamp_min(0), x.clamp(max=1),
                                F.hardtanh(x), F.relu6(x), torch.clamp(x, torch.zeros(5), torch.ones(5))),
               [torch.tensor([-1.0, 0, 0.5, 1, 6])]),
    "hypot": (lambda x, y: joined(torch.hypot(x, y), torch.hypot(x * 1e30, y * 1e30) * 1e-30), [X, Y]),
    "copysign": (lambda x, y: joined(torch.copysign(x, y), torch.copysign(x, -1.0)), [X, Y]),
    "extreme arguments": (
        lambda x, y: joined(x.asinh(), y.acosh(), torch.tensor([89.0, -89.0]).mul(x.detach().sign()[:2]).sinh() * 1e-38,
                            torch.fmod(x, torch.inf), torch.remainder(x, torch.inf).isfinite() * x.detach().sign(),
                            x.detach() // torch.inf, torch.hypot(y, y).isfinite() * 1.0),
        [torch.tensor([1e20, -1e20, 0.5, 1e10, 3e-5]), torch.tensor([1e20, 2e10, 1.5, 1e9, 30.0])]),
    "angle of nothing": (lambda x, y: joined(torch.atan2(x, y), x.sign()), [torch.tensor([0.0, 0, 1]), torch.tensor([0.0, -0.0, 0])]),
    "windows in the padding": (
        lambda x, w, v: joined(F.conv1d(x, w, stride=12, padding=5), F.conv1d(x, v, stride=12, padding=3),
                               F.conv_transpose1d(x[..., :1], w[..., :1], stride=3, padding=1, output_padding=2)),
        [floats(1, 1, 3), floats(1, 1, 2), floats(1, 1, 3)]),
    "fmax": (lambda x, y: joined(torch.fmax(x, y), torch.fmin(x, y), torch.fmax(x, y.log()), torch.fmin(y.log(), x)),
             [X, Y]),
    "fmax of equal numbers": (lambda x, y: joined(torch.fmax(x, y), torch.fmin(x, y)), [POSITIVE, POSITIVE.clone()]),
    "logarithms": (lambda x: joined(x.log1p(), x.log2(), x.log10(), 2.0 ** x, x ** x), [POSITIVE]),
    "questions": (lambda x: joined(x.isnan(), x.isfinite(), (x / 0).isfinite()) * x.mean(), [X]),
    "exponential_units": (lambda x: joined(F.elu(x), F.elu(x, 0.5), F.celu(x, 0.7), F.selu(x)), [X * 60]),
    "soft_units": (lambda x: joined(F.softplus(x), F.softplus(x, 2.0, 3.0), F.mish(x), F.logsigmoid(x)), [X * 60]),
    "hard_units": (lambda x: joined(F.hardtanh(x), F.relu6(x * 5), F.hardsigmoid(x * 3), F.hardswish(x * 3)), [X]),
    "prelu": (lambda x, a, b: joined(F.prelu(x, a), F.prelu(x, b)), [X, floats(3), floats(1)]),
    "clamp_tensor": (lambda x, y: torch.clamp(x, min=y), [X, Y]),
    "conditions": (conditions, [X]),
    "reductions": (lambda x: joined(x.min(), x.prod(1), x[0].prod(), *torch.var_mean(x, -1), *torch.std_mean(x, 0),
                                    x.logsumexp((0, 2)), x.logsumexp(1)), [POSITIVE]),
    "norms_of_orders": (lambda x: joined(x.norm(p=1, dim=1), torch.linalg.vector_norm(x, 3, 2),
                                         torch.linalg.vector_norm(x, float("inf"), 1)), [X]),
    "extrema": (lambda x: joined(x.min(1).values, x.topk(2, largest=False).values,
                                 x * F.one_hot(x.argmin(-1), 4)), [X]),
    "vectors": (lambda x, w, v: joined(x @ v, v @ w, v.dot(v), torch.mv(w, w[0]), torch.addmm(w, w, w, beta=0.5, alpha=2),
                                       torch.baddbmm(v, x, x.mT @ x, alpha=0.5)), [X, floats(4, 4), ROW]),
    "einsums": (lambda x, w: joined(torch.einsum("...ij,jk", x, w), torch.einsum("bij,jk,ck->bic", x, w, w),
                                    torch.einsum("...ij,...kj->...ik", x, x)), [X, floats(4, 5)]),
    "views": (lambda x: joined(x.view_as(x * 2) * 2, x.ravel() * 2, *torch.meshgrid(x[0, 0], x[0, :, 0], indexing="xy"),
                               x.roll(5), x.diff(), x.diagonal(1, 1, 2)), [X]),
    "pads": (lambda x: joined(F.pad(x, (2, 1), mode="reflect"), F.pad(x, (2, 1), mode="replicate"),
                              F.pad(x, (2, 1), mode="circular")), [X]),
    "index_rows": (lambda w, i: joined(w[i], w[i - 2], w[:, i], w[i, i - 1], w[torch.arange(2)[:, None], i],
                                       torch.index_select(w, 1, i[0])), [floats(4, 4, 3), integers(2, 5)]),
    "flip": (lambda x: joined(x.flip(0, 2) * 2, x.unfold(2, 2, 1), x.unfold(1, 2, 2)), [X]),
    "gather_fewer": (lambda x, i: x.gather(1, i), [X, integers(1, 5, 2, high=3)]),
    "scatter": (lambda x, i: joined(x.scatter(2, i, 1.5), x.scatter(2, i, x[..., 1:2] * 2),
                                    x.scatter(2, x.topk(2).indices, x[..., :2]),
                                    x.scatter_add(2, i.expand(2, 3, 4), x * x)), [X, integers(2, 3, 1)]),
    "index_add": (lambda x, y, i: x.index_add(1, i, y, alpha=2), [X, floats(2, 5, 4), integers(5, high=3)]),
    "convolution": (lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2), (1, 2)), [floats(2, 3, 6, 8), floats(4, 3, 3, 2), ROW]),
    "convolution_groups": (lambda x, w: F.conv2d(x, w, padding="same", groups=2), [floats(2, 4, 5, 6), floats(6, 2, 3, 3)]),
    "convolution_by_channel": (lambda x, w: F.conv1d(x, w, padding=3, groups=4), [floats(2, 4, 6), floats(4, 1, 4)]),
    "convolution_of_volumes": (lambda x, w: joined(F.conv3d(x, w, stride=2), F.conv3d(x, w, padding="same")),
                               [floats(2, 2, 4, 4, 4), floats(3, 2, 2, 2, 2)]),
    "convolution_of_one": (lambda x, w: F.conv1d(x, w, padding="valid"), [floats(3, 6), floats(4, 3, 2)]),
    "transposed_convolution": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1, 2, (1, 2)),
                               [floats(2, 4, 3, 4), floats(4, 3, 3, 2), floats(6)]),
    "transposed_convolutions": (lambda x, w, y, v: joined(F.conv_transpose1d(x, w, stride=3), F.conv_transpose3d(y, v)),
                                [floats(2, 3, 5), floats(3, 4, 2), floats(1, 2, 3, 3, 3), floats(2, 3, 2, 2, 2)]),
    "max_pools": (lambda x: joined(F.max_pool2d(x, 3, 2, 1), F.max_pool2d(F.relu(x), 2), F.max_pool1d(x[0], 2),
                                   F.max_pool3d(x, 2)), [floats(2, 3, 6, 8)]),
    "mean_pools": (lambda x: joined(F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 1, 1), F.avg_pool2d(x, 3, 2, 1, False, False),
                                    F.avg_pool1d(x[0], 4), F.avg_pool3d(x, 2, divisor_override=3)), [floats(2, 3, 6, 8)]),
    "adaptive_pools": (lambda x: joined(F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (4, 3)),
                                        F.adaptive_avg_pool1d(x[0], 4), F.adaptive_avg_pool3d(x, (1, 2, 8))),
                       [floats(2, 3, 6, 8)]),
    "nearest": (lambda x: joined(F.interpolate(x, scale_factor=2), F.interpolate(x, size=(3, 16)),
                                 F.interpolate(x[0], scale_factor=3), F.interpolate(x[None], size=(6, 6, 8))),
                [floats(2, 3, 6, 8)]),
    "norm_of_two_dims": (lambda x, w: joined(F.layer_norm(x, (3, 4), w), F.rms_norm(x, (3, 4), w)), [X, floats(3, 4)]),
    "instance_norm": (lambda x, w, b: joined(F.instance_norm(x, weight=w, bias=b), F.batch_norm(x, None, None, w, b, True)),
                      [floats(2, 4, 3, 2), ROW, floats(4)]),
    "attention_of_one_head": (lambda x, y: joined(F.scaled_dot_product_attention(x, x, x, is_causal=True),
                                                  F.scaled_dot_product_attention(x, x, y, is_causal=True)),
                              [X, floats(2, 3, 6)]),
    "class_losses": (lambda x, t, p, w: joined(
        F.cross_entropy(x, t, reduction="none"), F.cross_entropy(x, t, w.detach(), ignore_index=1, label_smoothing=0.1),
        F.cross_entropy(x, t, ignore_index=2), F.cross_entropy(x, p.detach().softmax(1)), F.cross_entropy(x[0, :, 0], t[0, 0]),
        F.nll_loss(F.log_softmax(x, 1), t, w.detach()), F.nll_loss(F.log_softmax(x[0].T, 1), t[0], reduction="sum")),
        [floats(2, 4, 3), integers(2, 3), floats(2, 4, 3), positive(4)]),
    "probability_losses": (lambda x, y, w: joined(
        F.binary_cross_entropy(x.sigmoid(), y.sigmoid()), F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
        F.binary_cross_entropy_with_logits(x, y.sigmoid(), w.detach(), pos_weight=w.detach()),
        F.kl_div(x.log_softmax(-1), y.log_softmax(-1), log_target=True, reduction="sum")), [X, Y, POSITIVE]),
    "decomposed": (lambda x, y: joined(
        F.cosine_similarity(x, y, -1), F.pairwise_distance(x, y), torch.lerp(x, y, 0.3), x.logaddexp(y), F.softsign(x),
        F.hinge_embedding_loss(x, y.sign().detach()), F.triplet_margin_loss(x, y, x * y), F.pixel_shuffle(x.view(1, 4, 2, 3), 2),
        F.poisson_nll_loss(x, y.exp()), torch.hstack([x, y]), torch.tile(x, (2,)), F.threshold(x, 0.1, 0.2)), [X, Y]),
    "decomposed_without_gradient": (lambda x: F.hardshrink(F.threshold(x * 2, 0.1, 0.3, inplace=True)) + frozen(x), [X]),
    "resized": (lambda x: joined(F.interpolate(x, scale_factor=2, mode="bilinear"), F.unfold(x, 3, padding=1)),
                [floats(1, 2, 4, 3)]),
    "recurrent": (lambda x, h, w, v, b: joined(
        *torch.lstm(x, (h[None], h[None]), [w, v, b, b], True, 1, 0.0, True, False, True),
        *torch.lstm_cell(x[:, 0], (h, h * 2), w, v, b, b), torch.gru_cell(x[:, 0], h, w[:9], v[:9], b[:9], b[:9])),
        [X, floats(2, 3), floats(12, 4), floats(12, 3), floats(12)]),
    "rotary_interleaved": (interleaved, [floats(2, 5, 3, 8)]),
    "arange_float": (lambda x: x * torch.arange(0.0, 4.0), [X]),
    "full": (lambda x: x * torch.full((4,), 2.5) + torch.zeros(4) + torch.ones_like(x), [X]),
}


class Case(torch.nn.Module):
    """The loss weights each element of the result by its own number, so that a permutation is seen."""

    def __init__(self, function, tensors):
        super().__init__()
        self.function = function
        self.order = []
        for number, tensor in enumerate(tensors):
            name = f"t{number}"
            self.order.append(name)
            if tensor.is_floating_point():
                self.register_parameter(name, torch.nn.Parameter(tensor.clone()))
        self.given = [name for name, tensor in zip(self.order, tensors) if not tensor.is_floating_point()]
        with torch.no_grad():
            shape = self.result(*[tensor for tensor in tensors if not tensor.is_floating_point()]).shape
        weights = torch.rand(shape, generator=torch.Generator().manual_seed(2)) + 0.5
        self.weights = torch.nn.Parameter(weights)

    def result(self, *given):
        named = dict(zip(self.given, given))
        return self.function(*[named[name] if name in named else getattr(self, name) for name in self.order])

    def forward(self, *given):
        result = self.result(*given)
        return (result * self.weights).sum(), result


def compare(name, folder):
    """Returns the ops that the case calls, and the largest error."""
    function, tensors = CASES[name]
    module = Case(function, tensors)
    given = [tensor for tensor in tensors if not tensor.is_floating_point()]
    program = torch.export.export(module, tuple(given))
    ops = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    decomposing.decompose(program)
    exported, graph = folder / f"{name}.pt2", folder / f"{name}.mlir"
    torch.export.save(program, exported)
    users = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    op_cases.run("braid-import", exported, "-o", graph, *[f"--input={user}=targets" for user in users])
    values = {key: tensor.detach().clone().contiguous() for key, tensor in module.named_parameters()}
    values |= {user: tensor.int() for user, tensor in zip(users, given)}
    save_file(values, folder / "in.safetensors")
    results = load_file(op_cases.differentiate(graph, folder))
    loss, result = module(*given)
    loss.backward()
    errors = [op_cases.error_of(results["@.loss" if "@.loss" in results else "loss"], loss.detach())]
    for key, parameter in module.named_parameters():
        gradient = next((value for label, value in results.items() if label.endswith(key) and label != key), None)
        if parameter.grad is not None and gradient is not None:
            errors.append(op_cases.error_of(gradient, parameter.grad))
        elif parameter.grad is not None:
            raise RuntimeError(f"no gradient of {key} among {sorted(results)}")
    return ops, max(errors)


warnings.filterwarnings("ignore")
op_cases.main(CASES, compare, TOLERANCE, f"torch {torch.__version__}")
