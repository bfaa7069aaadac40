#!/usr/bin/env python3
"""Compares imported ops with JAX: results, and gradients of float inputs.

  compare_jax_ops.py BIN [NAME...]

Each case is a function of arrays. It is lowered to StableHLO, imported, and differentiated and run by braid-interp with
the arrays' values. Needs jax and safetensors; exits with 77 without them. An op of the table that no case has is an
error, so a new row needs a case here.
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import op_cases

try:
    import jax
    import jax.numpy as jnp
    import numpy
    from jax import lax
    from safetensors.numpy import load_file, save_file
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TOLERANCE = 2e-6
RANDOM = numpy.random.default_rng(1)
# Ops that jnp does not call, or that have no numbers to compare.
WITHOUT_CASE = {"stablehlo.composite", "stablehlo.custom_call", "sdy.sharding_constraint", "stablehlo.if",
                "stablehlo.logistic", "stablehlo.clamp", "stablehlo.case"}


def floats(*shape, low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape).astype(numpy.float32)


def positive(*shape):
    return floats(*shape, low=0.5, high=2.0)


def integers(*shape, high=4):
    return RANDOM.integers(0, high, shape).astype(numpy.int32)


X, Y, POSITIVE, ROW = floats(2, 3, 4), floats(2, 3, 4), positive(2, 3, 4), floats(4)
HEADS = [floats(2, 5, 4, 6), floats(2, 5, 2, 6), floats(2, 5, 2, 6)]


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-4) * g + b


def fast_layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.maximum(0.0, (x * x).mean(-1, keepdims=True) - mean * mean)
    return (x - mean) * (lax.rsqrt(variance + 1e-4) * g) + b


def rms(x, w):
    return x * lax.rsqrt(jnp.mean(x ** 2, -1, keepdims=True) + 1e-5) * w


def rotary(x, axis):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[axis])[:, None] * (10000.0 ** (-jnp.arange(half) / half))
    angles = angles[:, None] if axis == 1 else angles
    low, high = x[..., :half], x[..., half:]
    return jnp.concatenate([low * jnp.cos(angles) - high * jnp.sin(angles),
                            high * jnp.cos(angles) + low * jnp.sin(angles)], -1)


ANGLES = numpy.arange(12, dtype=numpy.float32)[:, None] * (10000.0 ** (-numpy.arange(8, dtype=numpy.float32) / 8))


def turned_by(x, angles):
    cos, sin = (each(angles).astype(numpy.float32)[None, :, None] for each in (numpy.cos, numpy.sin))
    low, high = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


def attention(q, k, v, mask=None, scale=0.4):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, jnp.repeat(k, 2, 2)) * scale
    scores = scores if mask is None else jnp.where(mask, scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), jnp.repeat(v, 2, 2))


def patches_last(x, w):
    return lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def softcapped(q, k, v):
    scores = 3.0 * jnp.tanh(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 3.0)
    return jnp.einsum("bkhd,bhqk->bqhd", v, jax.nn.softmax(scores + jnp.where(jnp.tri(5) > 0, 0.0, -1e30)))


def near():
    position = jnp.arange(5)
    return (position[None, :] <= position[:, None]) & (position[None, :] > position[:, None] - 3)


def cross_entropy(logits, targets):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], -1).mean()


def cross_entropy_of_rows(logits, targets):
    rows = logits.reshape(-1, 4)
    return (jax.nn.logsumexp(rows, -1) - rows[jnp.arange(6), targets.reshape(-1)]).mean()


def masked(logits, targets, ignored):
    mask = targets != ignored
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.where(mask, targets, 0)[..., None], -1)[..., 0]
    return -(chosen * mask).sum() / jnp.maximum(mask.sum(), 1)


def optax_rows(logits, targets):
    return jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]


def optax_cross_entropy(logits, targets):
    logits -= jnp.max(logits, axis=-1, keepdims=True)
    label_logits = jnp.take_along_axis(logits, jnp.expand_dims(targets, -1), axis=-1).squeeze(-1)
    return (jnp.log(jnp.sum(jnp.exp(logits), axis=-1)) - label_logits).mean()


def loop(x, w):
    return lax.scan(lambda carry, each: (jnp.tanh(carry @ each), carry.sum()), x, w)


def pool(x, reducer, first, size, stride, padding="VALID"):
    return lax.reduce_window(x, first, reducer, (1, size, size, 1), (1, stride, stride, 1), padding)


def gradient_of_pool(x, size, stride):
    return x * jax.grad(lambda v: jnp.sum(jnp.sin(pool(v, lax.max, -jnp.inf, size, stride))))(x)


def key_of(i):
    return jax.random.wrap_key_data(i.astype(jnp.uint32))


def positions_of(hot):
    """Positions of choices among those of their expert, in the order of tokens."""
    return ((jnp.cumsum(hot.reshape(-1, hot.shape[-1]), 0) - 1).reshape(hot.shape) * hot).sum(-1)


def experts(x, router, up, capacity=2):
    """A mixture of experts as in GShard: two experts for each token, with a capacity."""
    weights, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    hot = jax.nn.one_hot(chosen, router.shape[1])
    slots = jax.nn.one_hot(positions_of(hot), capacity)  # rows of zeros beyond the capacity
    dispatch, combine = jnp.einsum("tke,tkc->tec", hot, slots), jnp.einsum("tk,tke,tkc->tec", weights, hot, slots)
    return jnp.einsum("tec,ecf->tf", combine, jax.nn.relu(jnp.einsum("tec,td,edf->ecf", dispatch, x, up)))


def all_experts(x, router, up):
    weights, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    gates = (jax.nn.one_hot(chosen, router.shape[1]) * weights[..., None]).sum(1)
    return jnp.einsum("te,tef->tf", gates, jax.nn.relu(jnp.einsum("td,edf->tef", x, up)))


# Name: function, arrays.
CASES = {
    "add": (lambda x, y: x + y, [X, ROW]),
    "subtract": (lambda x, y: x - y, [X, Y]),
    "multiply": (lambda x, y: x * y, [X, ROW]),
    "divide": (lambda x, y: x / y, [X, POSITIVE]),
    "integers": (lambda x, i: x * ((i + 2) * 3 - i), [X, integers(4)]),
    "power": (lambda x: x ** 1.7 + x ** -0.5 + x ** 3, [POSITIVE]),
    "power_of_both": (lambda x, y: x ** y, [POSITIVE, Y]),
    "maximum": (jnp.maximum, [X, Y]),
    "minimum": (jnp.minimum, [X, Y]),
    "clip": (lambda x: jnp.clip(x, -1, 0.5), [X]),
    "lax_clamp": (lambda x: lax.clamp(-1.0, x, 0.5), [X]),
    "negative": (jnp.negative, [X]),
    "abs": (jnp.abs, [X]),
    "sign": (lambda x: x * jnp.sign(x), [X]),
    "floor": (lambda x: x * jnp.floor(x) + jnp.ceil(x), [X]),
    "exp": (jnp.exp, [X]),
    "expm1": (jnp.expm1, [X]),
    "log": (jnp.log, [POSITIVE]),
    "log1p": (jnp.log1p, [POSITIVE]),
    "sqrt": (jnp.sqrt, [POSITIVE]),
    "rsqrt": (lax.rsqrt, [POSITIVE]),
    "tanh": (jnp.tanh, [X]),
    "erf": (jax.scipy.special.erf, [X]),
    "sin": (jnp.sin, [X]),
    "cos": (jnp.cos, [X]),
    "sigmoid": (jax.nn.sigmoid, [X]),
    "silu": (jax.nn.silu, [X]),
    "relu": (jax.nn.relu, [numpy.maximum(X, 0)]),
    "gelu": (jax.nn.gelu, [X]),
    "gelu_erf": (lambda x: jax.nn.gelu(x, approximate=False), [X]),
    "softplus": (jax.nn.softplus, [X]),
    "leaky_relu": (jax.nn.leaky_relu, [X]),
    "where": (lambda x, y: jnp.where((x > y) & ~(x == 1.0) | (y <= -1.5) ^ (x != x), x, y * 2), [X, Y]),
    "is_finite": (lambda x: jnp.where(jnp.isfinite(x), x, 0.0), [X]),
    "convert": (lambda x: x.astype(jnp.int32).astype(jnp.float32) * x + (x > 0).astype(jnp.float32), [X]),
    "bf16": (lambda x, w: (x.astype(jnp.bfloat16).astype(jnp.float32) * w), [floats(3, 4), floats(3, 4)]),
    "reshape": (lambda x: x.reshape(6, 4) * 2, [X]),
    "transpose": (lambda x: x.transpose(2, 0, 1) * 2, [X]),
    "broadcast": (lambda x: jnp.broadcast_to(x[:, None], (3, 5, 4)) * 1.5, [floats(3, 4)]),
    "repeat": (lambda x: jnp.repeat(x, 2, axis=1) * 2, [X]),
    "slice": (lambda x: x[:, 1:, ::2] * x[:, :-1, 1::2], [X]),
    "index": (lambda x: x[:, -1] * 2, [X]),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 1) * jnp.stack([x, y], 1).reshape(2, 6, 4), [X, Y]),
    "split": (lambda x: jnp.concatenate(jnp.split(x, 2, -1)[::-1], -1) * 2, [X]),
    "pad": (lambda x: jnp.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=0.5) * 2, [X]),
    "reverse": (lambda x: x[:, ::-1] * x, [X]),
    "constants": (lambda x: x * jnp.asarray([1.0, 2.5, -3.0, 4.0]) + jnp.arange(4), [X]),
    "embedding": (lambda w, i: w[i], [floats(4, 3), integers(2, 5)]),
    "take": (lambda w, i: jnp.take(w, i, axis=0), [floats(4, 3), integers(2, 5)]),
    "take_clip": (lambda w, i: jnp.take(w, i, axis=1, mode="clip"), [floats(3, 4), integers(2, 5)]),
    "positions": (lambda w: w[jnp.arange(3)] * 2, [floats(4, 3)]),
    "take_along_axis": (lambda x, i: jnp.take_along_axis(x, i[..., None], -1), [X, integers(2, 3)]),
    "take_along_first": (lambda x, i: jnp.take_along_axis(x, i[None], 0), [X, integers(3, 4, high=2)]),
    "pairs": (lambda x, i: x[jnp.arange(3), i], [floats(3, 4), integers(3)]),
    "scatter_add": (lambda w, x, i: w.at[i].add(x), [floats(4, 3), floats(2, 5, 3), integers(2, 5)]),
    "dynamic_slice": (lambda x: lax.dynamic_slice_in_dim(x, jnp.int32(1), 2, 1) * 2, [X]),
    "dynamic_update": (lambda x, y: lax.dynamic_update_slice_in_dim(x, y[:, :2], jnp.int32(1), 1) * 2, [X, Y]),
    "sum": (lambda x: x.sum(), [X]),
    "sum_dims": (lambda x: x.sum((0, 2), keepdims=True) * 2, [X]),
    "mean": (lambda x: x.mean(-1) * 2, [X]),
    "max": (lambda x: x.max(-1) * 2, [X]),
    "min": (lambda x: x.min((0, 1)) * 2, [X]),
    "any": (lambda x: x * jnp.any(x > 1, -1, keepdims=True) + x * jnp.all(x > -1, -1, keepdims=True), [X]),
    "uniform": (lambda x, i: x * jax.random.uniform(jax.random.wrap_key_data(i.astype(jnp.uint32)), (2, 3, 4)),
                [X, integers(2)]),
    "argmax": (lambda x: x * jnp.argmax(x, 1)[:, None], [X]),
    "top_k": (lambda x: lax.top_k(x, 2)[0] * (1 + lax.top_k(x, 2)[1]), [X]),
    "var": (lambda x: x.var(-1, ddof=1), [X]),
    "matmul": (jnp.matmul, [floats(2, 3, 4, 5), floats(2, 1, 5, 6)]),
    "einsum": (lambda x, w: jnp.einsum("bsd,dhe->bhse", x, w), [X, floats(4, 2, 3)]),
    "outer": (lambda x, y: jnp.einsum("ij,k->kij", x, y), [floats(2, 3), floats(4)]),
    "patches": (lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "VALID"), [floats(2, 3, 4, 4), floats(5, 3, 2, 2)]),
    "patches_last": (patches_last, [floats(2, 4, 4, 3), floats(2, 2, 3, 5)]),
    "softmax": (lambda x: jax.nn.softmax(x, -1), [X]),
    "softmax_dim": (lambda x: jax.nn.softmax(x, 1), [X]),
    "log_softmax": (lambda x: jax.nn.log_softmax(x, -1), [X]),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, -1), [X]),
    "layer_norm": (layer_norm, [X, ROW, floats(4)]),
    "layer_norm_fast": (fast_layer_norm, [X, ROW, floats(4)]),
    "rms_norm": (rms, [X, ROW]),
    "rms_norm_offset": (lambda x, w: rms(x, 1 + w), [X, ROW]),
    "rotary_sequence_first": (lambda x: rotary(x, 1), [floats(2, 5, 3, 8)]),
    "rotary_heads_first": (lambda x: rotary(x, 2), [floats(2, 3, 5, 8)]),
    "attention": (attention, HEADS),
    "attention_causal": (lambda q, k, v: attention(q, k, v, jnp.tril(jnp.ones((5, 5), bool))), HEADS),
    "attention_by_numpy": (lambda q, k, v: attention(q, k, v, numpy.tril(numpy.ones((9, 9), bool))),
                           [floats(2, 9, 4, 6), floats(2, 9, 2, 6), floats(2, 9, 2, 6)]),
    "rotary_by_numpy": (lambda x: turned_by(x, ANGLES), [floats(2, 12, 3, 16)]),
    "attention_sliding": (lambda q, k, v: attention(q, k, v, near()), HEADS),
    "attention_softcap": (softcapped, [floats(2, 5, 2, 6), floats(2, 5, 2, 6), floats(2, 5, 2, 6)]),
    "attention_of_jax": (lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), HEADS),
    "cross_entropy": (cross_entropy, [X, integers(2, 3)]),
    "cross_entropy_of_rows": (cross_entropy_of_rows, [X, integers(2, 3)]),
    "cross_entropy_masked": (lambda x, i: masked(x, i, 2), [X, integers(2, 3)]),
    "cross_entropy_where": (lambda x, i: jnp.where(i != 1, optax_rows(x, i), 0.0).sum() / (i != 1).astype(
        jnp.float32).sum(), [X, integers(2, 3)]),
    "cross_entropy_of_optax": (optax_cross_entropy, [X, integers(2, 3)]),
    "loss_with_factors": (lambda x: -0.5 * (x * x).sum() / 3, [X]),
    "count": (lambda x: x * (x > 0).sum(-1, keepdims=True), [X]),
    "one_hot": (lambda x, i: jnp.sum(jax.nn.one_hot(i, 4) * jax.nn.log_softmax(x)), [X, integers(2, 3)]),
    "scan": (lambda x, w: loop(x, w)[0] * loop(x, w)[1].sum(), [floats(3, 4), floats(2, 4, 4)]),
    "checkpoint": (jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), [X]),
    "barrier": (lambda x: lax.optimization_barrier(x) * 2, [X]),
    "cond": (lambda x: lax.cond(jnp.bool_(True), jnp.sin, jnp.cos, x), [X]),
}

# Cases with draws of their own, so that the numbers of the others stay.
RANDOM = numpy.random.default_rng(2)
IMAGE, EXPERTS = floats(2, 6, 6, 3), [floats(6, 4), floats(4, 3), floats(3, 4, 5)]
def conv(x, w, strides=(1, 1), padding="SAME", layout=("NHWC", "HWIO", "NHWC"), **options):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=layout, **options)


def gradient_of_conv(x, w, *arguments, **options):
    """Both gradients as JAX has them: their windows are dilated, reversed, or as large as the image."""
    for_x, for_w = jax.grad(lambda x, w: jnp.sin(conv(x, w, *arguments, **options)).sum(), (0, 1))(x, w)
    return jnp.concatenate([for_x.reshape(-1), for_w.reshape(-1)])


PICTURE = floats(2, 6, 5, 4)
CASES |= {
    "conv": (conv, [PICTURE, floats(3, 3, 4, 6)]),
    "conv_strided": (lambda x, w: conv(x, w, (2, 1), ((1, 0), (2, 3))), [PICTURE, floats(3, 2, 4, 6)]),
    "conv_cut": (lambda x, w: conv(x, w, padding=((-1, 0), (-1, 2))), [PICTURE, floats(3, 2, 4, 6)]),
    "conv_dilated": (lambda x, w: conv(x, w, (1, 1), ((2, 1), (0, 2)), rhs_dilation=(2, 1), lhs_dilation=(1, 3)), [PICTURE, floats(3, 2, 4, 6)]),
    "conv_groups": (lambda x, w: conv(x, w, feature_group_count=2), [PICTURE, floats(3, 3, 2, 6)]),
    "conv_channels": (lambda x, w: conv(x, w, feature_group_count=4), [PICTURE, floats(3, 3, 1, 4)]),
    "conv_batch_groups": (lambda x, w: conv(x, w, batch_group_count=2), [PICTURE, floats(3, 3, 4, 6)]),
    "conv_order": (lambda x, w: conv(x, w, layout=("CHNW", "OWIH", "WNCH")), [PICTURE, floats(3, 2, 2, 3)]),
    "conv_transposed": (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), [PICTURE, floats(3, 3, 4, 5)]),
    "conv_in_padding": (lambda x, w: conv(x, w, (1,), ((-5, 4),), ("NWC", "WIO", "NWC")).sum() + lax.pad(x, 0.5, ((0, 0, 0), (-3, 4, 0), (0, 0, 0))),
                        [floats(1, 3, 1), floats(2, 1, 1)]),
    "conv_line": (lambda x, w: conv(x, w, (2,), "SAME", ("NWC", "WIO", "NWC")), [floats(2, 7, 3), floats(3, 3, 5)]),
    "conv_space": (lambda x, w: conv(x, w, (1, 2, 1), "SAME", ("NCDHW", "OIDHW", "NCDHW")),
                   [floats(2, 3, 4, 5, 3), floats(2, 3, 2, 3, 2)]),
    "conv_large_window": (lambda x, w: conv(x, w, padding="VALID"), [floats(1, 20, 20, 2), floats(18, 18, 2, 3) / 10]),
    "conv_gradient": (gradient_of_conv, [PICTURE, floats(3, 3, 4, 6)]),
    "conv_gradient_strided": (lambda x, w: gradient_of_conv(x, w, (2, 2)), [PICTURE, floats(3, 2, 4, 3)]),
    "conv_gradient_groups": (lambda x, w: gradient_of_conv(x, w, feature_group_count=2), [PICTURE, floats(3, 3, 2, 4)]),
    "conv_gradient_channels": (lambda x, w: gradient_of_conv(x, w, feature_group_count=4), [PICTURE, floats(3, 3, 1, 4)]),
}

INSIDE = floats(2, 3, 4, low=-0.9, high=0.9)
CASES |= {
    "tan": (jnp.tan, [INSIDE]),
    "hyperbolic": (lambda x: jnp.sinh(x) * jnp.cosh(x), [X]),
    "hyperbolic_inverses": (lambda x, y, z: jnp.arcsinh(x) + jnp.arccosh(1 + y) * jnp.arctanh(z), [X, POSITIVE, INSIDE]),
    "arctan": (jnp.arctan, [X]),
    "arctan2": (jnp.arctan2, [X, Y]),
    "circular_inverses": (lambda x, y: jnp.arcsin(x) * jnp.arccos(y), [INSIDE, INSIDE[::-1].copy()]),
    "cbrt": (jnp.cbrt, [X]),
    "erf_inv": (jax.scipy.special.erfinv, [INSIDE]),
    "saturated_sigmoid": (lambda x: jax.nn.sigmoid(x) + jax.nn.glu(jnp.stack([x, x], -1))[..., 0] + jax.nn.silu(x),
                          [numpy.array([-100, -90, -60, -1, 0, 1, 60, 100], numpy.float32)]),
    "bounds": (lambda x: lax.clamp(-1.0, x, 1.0) + jnp.clip(x, -1, 1) + jnp.abs(x), [numpy.array([-1, 0, 0.5, 1, 3], numpy.float32)]),
    "powers_of_0": (lambda x, y: x ** y, [numpy.array([0, 0, 2, 1.5], numpy.float32), numpy.array([3, 1, 0, 2], numpy.float32)]),
    "no_elements": (lambda x: jnp.polyval(jnp.array([1.0, 2, 3]), x) + lax.associative_scan(jnp.maximum, x, axis=2), [X]),
    "erfc": (lambda x: jax.scipy.special.erfc(2 * x) + jax.scipy.special.log_ndtr(2 * x), [X]),
    "round": (lambda x: x * (jnp.round(x * 2) + lax.round(x * 4, lax.RoundingMethod.AWAY_FROM_ZERO)), [numpy.round(X * 4) / 4]),
    "remainder": (lambda x, y: jnp.fmod(x, y) + jnp.mod(x, y), [X, POSITIVE]),
    "integer_division": (lambda x, i: x * ((i - 2) % 3 + (i - 2) // 2 + jnp.abs(i - 2) * jnp.sign(i - 2) + ((i - 3) >> 1)),
                         [X, integers(4)]),
    "cumsum": (lambda x: jnp.cumsum(x, 1) * lax.cumsum(x, 2, reverse=True), [X]),
    "cumsum_integers": (lambda x, i: x * jnp.cumsum(i) * jnp.cumsum(i > 1), [X, integers(4)]),
    "cumprod": (lambda x: jnp.cumprod(x, -1), [X]),
    "cummax": (lambda x: lax.cummax(x, 2) * lax.cummin(x, 1), [X]),
    "prod": (lambda x: x.prod(-1) * x.prod((0, 1)).sum(), [X]),
    "argmin": (lambda x: x * (jnp.argmin(x, 1) + jnp.argmax(x > 0, 1))[:, None], [X]),
    "integer_sums": (lambda x, i: x * i.sum(-1, keepdims=True) / i.max() + i.min(), [X, 1 + integers(2, 3, 4)]),
    "pool_max": (lambda x: pool(x, lax.max, -jnp.inf, 2, 2), [IMAGE]),
    "pool_overlapping": (lambda x: pool(x, lax.max, -jnp.inf, 3, 2, "SAME"), [IMAGE]),
    "pool_sum": (lambda x: pool(x, lax.add, 0.0, 3, 1, "SAME") / pool(jnp.ones_like(x), lax.add, 0.0, 3, 1, "SAME"), [IMAGE]),
    "pool_dilated": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 2, 1), ((0, 0), (1, 0), (0, 1), (0, 0)),
                                                 window_dilation=(1, 2, 1, 1)), [IMAGE]),
    "pool_gradient": (lambda x: gradient_of_pool(x, 2, 2) + gradient_of_pool(x, 3, 1), [IMAGE]),
    "set": (lambda x, y: x.at[0].set(y[1]).at[:, 1].set(2.0).at[:, :2, 1:3].multiply(y[:, 1:, :2]), [X, Y]),
    "two_positions": (lambda x, i, j: x[i, j] * x[:, j, i].sum((0, 1)), [floats(4, 4, 3), integers(5, high=3), integers(5)]),
    "add_at_two_positions": (lambda x, y, i, j: x.at[i, j].add(y), [floats(4, 4, 3), floats(5, 3), integers(5), integers(5)]),
    "diagonal": (lambda x: jnp.diag(x @ x.T) * jax.grad(lambda v: jnp.diag(v @ v.T).sum())(x)[:, 0], [floats(4, 3)]),
    "several_of_a_row": (lambda x, i: jnp.take_along_axis(x, i, 1), [X, integers(2, 5, 4, high=3)]),
    "gradient_of_top_k": (lambda x: x * jax.grad(lambda v: (lax.top_k(v, 2)[0] ** 2).sum())(x), [X]),
    "normal": (lambda x, i: x * jax.random.normal(key_of(i), (2, 3, 4)), [X, integers(2)]),
    "truncated_normal": (lambda x, i: x * jax.random.truncated_normal(key_of(i), -2.0, 2.0, (2, 3, 4)), [X, integers(2)]),
    "gumbel": (lambda x, i: x * jax.random.categorical(key_of(i), x)[..., None], [X, integers(2)]),
    "randint": (lambda x, i: x * jax.random.randint(key_of(i), (2, 3, 4), 0, 50) * jax.random.randint(
        key_of(i), (2, 3, 4), -3, 5), [X, integers(2)]),
    "attention_window": (lambda q, k, v: jax.nn.dot_product_attention(q, k, v, local_window_size=(2, 1)), HEADS),
    "experts": (experts, EXPERTS),
    "all_experts": (all_experts, EXPERTS),
    "patches_gradients": (lambda x, w: sum(map(jnp.sum, jax.grad(lambda *each: jnp.sum(jnp.sin(
        patches_last(*each))), (0, 1))(x, w))) + patches_last(x, w), [floats(2, 4, 4, 3), floats(2, 2, 3, 5)]),
}


def compare(name, folder):
    """Returns the ops of the case, and the largest error."""
    function, arrays = CASES[name]
    params = {f"t{number}": array for number, array in enumerate(arrays) if array.dtype == numpy.float32}
    given = {f"t{number}": array for number, array in enumerate(arrays) if array.dtype != numpy.float32}
    shape = jax.eval_shape(function, *arrays).shape
    random = numpy.random.default_rng(len(name))
    # Each element of the result has a weight of its own, so that a permutation is seen.
    params["weights"] = random.uniform(0.5, 1.5, shape).astype(numpy.float32)

    def loss(params, given):
        result = function(*[(params | given)[f"t{number}"] for number in range(len(arrays))])
        return (result * params["weights"]).sum(), result

    lowered = jax.jit(loss).lower(params, given)
    text = lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    program, graph = folder / f"{name}.mlir", folder / f"{name}.graph.mlir"
    program.write_text(text)
    op_cases.run("braid-import", program, "-o", graph, *[f"--input={key}=targets" for key in given])
    graph_text = graph.read_text()
    values = {key: value for key, value in (params | given).items() if f'"{key}"' in graph_text}
    # What lax.scan reads layer by layer is a parameter for each layer.
    stacked = {key: value for key, value in params.items() if f'"0.{key}"' in graph_text}
    values |= {f"{number}.{key}": layer for key, value in stacked.items() for number, layer in enumerate(value)}
    save_file(values, folder / "in.safetensors")
    results = load_file(op_cases.differentiate(graph, folder))
    (_, wanted), gradients = jax.value_and_grad(loss, has_aux=True)(params, given)
    errors = [op_cases.error_of(results["output1"], wanted)]
    for key, gradient in gradients.items():
        found = [value for label, value in results.items() if re.fullmatch(rf"(grad_of )?(\d+\.)?{key}", label)]
        if not found:
            raise RuntimeError(f"no gradient of {key} among {sorted(results)}")
        found = numpy.stack(found) if key in stacked else found[0]
        errors.append(op_cases.error_of(found, gradient))
    return set(re.findall(r'"((?:stablehlo|chlo|func|sdy)\.\w+)"', text)), max(errors)


op_cases.main(CASES, compare, TOLERANCE, f"jax {jax.__version__}", source="stablehlo", without_case=WITHOUT_CASE)
