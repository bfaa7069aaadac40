#!/usr/bin/env python3
"""Counts the functions of JAX that braid-import takes, as a loss and as a whole step.

  jax_survey.py [--values] [NAME...]

Each function gets small arrays. Its weighted sum is a loss, and with jax.grad and gradient descent a whole step; both
are lowered and imported. --values also runs both in braid-interp and compares results and gradients with JAX. Prints
the functions that are refused, with the message. Needs jax and safetensors, and the tools in PATH.
"""
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from safetensors.numpy import load_file, save_file

RANDOM = numpy.random.default_rng(3)


def floats(*shape, low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape).astype(numpy.float32)


def integers(*shape, high=4):
    return RANDOM.integers(0, high, shape).astype(numpy.int32)


X, Y, P, U = floats(4, 6), floats(4, 6), floats(4, 6, low=0.3), floats(4, 6, low=-0.9, high=0.9)
C, I = integers(4, high=6), integers(4, 6, high=5)
KEY = numpy.asarray([3, 7], numpy.uint32)
IMAGE = floats(2, 8, 8, 3)
Q, K, V = floats(2, 8, 4, 6), floats(2, 8, 2, 6), floats(2, 8, 2, 6)


def one_key(draw):
    return lambda x, key: x * draw(jax.random.wrap_key_data(key))


def pool(reducer, first, window, strides, padding="VALID"):
    return lambda x: lax.reduce_window(x, first, reducer, (1, window, window, 1), (1, strides, strides, 1), padding)


def attended(**options):
    return lambda q, k, v: jax.nn.dot_product_attention(q, k, v, **options)


def chosen(logits, labels):
    return jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1)[:, 0]


def instance_norm(x):
    mean, variance = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5)


def group_norm(x):
    grouped = x.reshape(2, 8, 8, 3, 1)
    return ((grouped - grouped.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(grouped.var((1, 2, 4), keepdims=True) + 1e-5)
            ).reshape(x.shape)


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-6)


def huber(x, y):
    error = jnp.abs(x - y)
    return jnp.where(error < 1, 0.5 * error ** 2, error - 0.5)


def cosine(x, y):
    return (x * y).sum(-1) / (jnp.linalg.norm(x, axis=-1) * jnp.linalg.norm(y, axis=-1) + 1e-8)


def bce(x, y):
    labels = (y > 0).astype(jnp.float32)
    return -labels * jax.nn.log_sigmoid(x) - (1 - labels) * jax.nn.log_sigmoid(-x)


def focal(x, y):
    p, loss = jax.nn.sigmoid(x), bce(x, y)
    return loss * (1 - jnp.where(y > 0, p, 1 - p)) ** 2.0


def smoothed(x, c):
    labels = jax.nn.one_hot(c, 6) * 0.9 + 0.1 / 6
    return -(labels * jax.nn.log_softmax(x)).sum(-1)


def poly_loss(x, c):
    chosen_probability = (jax.nn.one_hot(c, 6) * jax.nn.softmax(x)).sum(-1)
    return -chosen(x, c) + 1 - chosen_probability


def ntxent(x, y):
    a, b = (each / jnp.linalg.norm(each, axis=-1, keepdims=True) for each in (x, y))
    return -jnp.diag(jax.nn.log_softmax(a @ b.T / 0.1))


def triplet(x, y):
    return jnp.maximum(jnp.linalg.norm(x - y, axis=-1) - jnp.linalg.norm(x + y, axis=-1) + 1.0, 0)


def perplexity_masked(x, c):
    mask = (c != 0).astype(jnp.float32)
    return -(chosen(x, c) * mask).sum() / jnp.maximum(mask.sum(), 1.0)


def moe(x, router, up, capacity=2, k=2):
    probabilities = jax.nn.softmax(x @ router)
    weights, experts = lax.top_k(probabilities, k)
    hot = jax.nn.one_hot(experts, router.shape[1])
    position = (jnp.cumsum(hot.reshape(-1, router.shape[1]), 0) - 1).reshape(hot.shape) * hot
    slots = jax.nn.one_hot(position.sum(-1), capacity) * (position.sum(-1) < capacity)[..., None]
    dispatch = jnp.einsum("tke,tkc->tec", hot, slots)
    combine = jnp.einsum("tk,tke,tkc->tec", weights, hot, slots)
    hidden = jnp.einsum("tec,td,edf->ecf", dispatch, x, up)
    return jnp.einsum("tec,ecf->tf", combine, jax.nn.relu(hidden))


def dense_moe(x, router, up):
    weights, experts = lax.top_k(jax.nn.softmax(x @ router), 2)
    gates = (jax.nn.one_hot(experts, router.shape[1]) * weights[..., None]).sum(1)
    return jnp.einsum("te,tef->tf", gates, jax.nn.relu(jnp.einsum("td,edf->tef", x, up)))


MOE = [floats(4, 6), floats(6, 3), floats(3, 6, 5)]

FUNCTIONS = {
    # jax.numpy, elementwise.
    **{f"jnp.{name}": (getattr(jnp, name), [X]) for name in (
        "abs", "negative", "sign", "square", "exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh",
        "arctan", "arcsinh", "floor", "ceil", "round", "rint", "trunc", "cbrt", "sinc", "deg2rad", "nan_to_num", "i0",
        "isnan", "signbit", "fabs", "reciprocal", "positive")},
    **{f"jnp.{name}": (getattr(jnp, name), [P]) for name in ("log", "log1p", "log2", "log10", "sqrt")},
    **{f"jnp.{name}": (getattr(jnp, name), [U]) for name in ("arcsin", "arccos", "arctanh")},
    "jnp.arccosh": (jnp.arccosh, [P + 1]),
    **{f"jnp.{name}": (getattr(jnp, name), [X, Y]) for name in (
        "add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "hypot", "arctan2",
        "heaviside", "copysign", "nextafter", "remainder", "fmod", "floor_divide")},
    "jnp.divide": (jnp.divide, [X, P]), "jnp.power": (jnp.power, [P, Y]), "jnp.float_power_2.5": (lambda x: x ** 2.5, [P]),
    "jnp.integer_mod": (lambda x, i: x * (i % 3), [X, I]), "jnp.integer_div": (lambda x, i: x * (i // 2), [X, I]),
    "jnp.integer_pow": (lambda x, i: x * i ** 2, [X, I]), "jnp.integer_abs": (lambda x, i: x * jnp.abs(i - 2), [X, I]),
    "jnp.shift": (lambda x, i: x * ((i << 1) >> 1), [X, I]), "jnp.where": (lambda x, y: jnp.where(x > y, x, y), [X, Y]),
    "jnp.clip": (lambda x: jnp.clip(x, -1, 1), [X]), "jnp.select": (
        lambda x, y: jnp.select([x > 1, x > 0], [x, y], 0.5), [X, Y]),
    "jnp.piecewise": (lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: v * 2, lambda v: v * v]), [X]),
    "jnp.interp": (lambda x: jnp.interp(x, jnp.array([-2.0, 0.0, 2.0]), jnp.array([0.0, 1.0, 3.0])), [X]),
    # Reductions.
    **{f"jnp.{name}": (lambda x, f=getattr(jnp, name): f(x, axis=-1), [X]) for name in (
        "sum", "mean", "max", "min", "prod", "std", "var", "ptp", "median", "nansum", "nanmean", "cumsum", "cumprod",
        "argmax", "argmin", "sort", "argsort", "any", "all", "count_nonzero", "diff", "flip", "average")},
    "jnp.cumsum_rows": (lambda x: jnp.cumsum(x, 0), [X]), "jnp.cumsum_integers": (
        lambda x, i: x * jnp.cumsum(i, 1), [X, I]),
    "jnp.cumsum_mask": (lambda x, i: x * jnp.cumsum(i > 2, 1), [X, I]),
    "lax.cummax": (lambda x: lax.cummax(x, 1), [X]), "lax.cummin": (lambda x: lax.cummin(x, 1), [X]),
    "lax.cumlogsumexp": (lambda x: lax.cumlogsumexp(x, 1), [X]),
    "lax.cumsum_reverse": (lambda x: lax.cumsum(x, 1, reverse=True), [X]),
    "lax.associative_scan": (lambda x: lax.associative_scan(lambda a, b: a * b + b, x, axis=1), [X]),
    "jnp.sum_integers": (lambda x, i: x.sum() / i.sum(), [X, I]), "jnp.max_integers": (lambda x, i: x * i.max(), [X, I]),
    "jnp.quantile": (lambda x: jnp.quantile(x, 0.3, axis=1), [X]),
    "jnp.linalg.norm": (lambda x: jnp.linalg.norm(x, axis=-1), [X]), "jnp.linalg.norm1": (
        lambda x: jnp.linalg.norm(x, ord=1, axis=-1), [X]),
    "jnp.histogram": (lambda x, i: x[0, :5] * jnp.bincount(i[0], length=5), [X, I]),
    # Shapes and indices.
    "jnp.tril": (jnp.tril, [X]), "jnp.triu": (jnp.triu, [X]), "jnp.diag": (lambda x: jnp.diag(x[:, :4]), [X]),
    "jnp.diag_embed": (lambda x: jnp.diag(x[0]), [X]), "jnp.trace": (lambda x: jnp.trace(x[:, :4]), [X]),
    "jnp.roll": (lambda x: jnp.roll(x, 2, 1), [X]), "jnp.roll_negative": (lambda x: jnp.roll(x, -1, 0), [X]),
    "jnp.tile": (lambda x: jnp.tile(x, (2, 1)), [X]), "jnp.repeat": (lambda x: jnp.repeat(x, 2, 1), [X]),
    "jnp.concatenate": (lambda x, y: jnp.concatenate([x, y]), [X, Y]), "jnp.stack": (lambda x, y: jnp.stack([x, y]), [X, Y]),
    "jnp.pad_edge": (lambda x: jnp.pad(x, 1, mode="edge"), [X]), "jnp.pad_reflect": (
        lambda x: jnp.pad(x, 1, mode="reflect"), [X]),
    "jnp.take": (lambda x, c: jnp.take(x, c, axis=1), [X, C]), "x[i]": (lambda x, c: x[c], [X, integers(5)]),
    "x[:, i]": (lambda x, c: x[:, c], [X, integers(5)]), "x[i, j]": (lambda x, i, j: x[i, j], [X, integers(5), integers(5)]),
    "x[[0, 2]]": (lambda x: x[jnp.array([0, 2])], [X]), "x[mask constant]": (
        lambda x: x[numpy.array([True, False, True, True])], [X]),
    "x.at.set": (lambda x: x.at[0].set(1.0), [X]), "x.at.set_column": (lambda x: x.at[:, 1].set(0.0), [X]),
    "x.at.add_known": (lambda x: x.at[1:3].add(1.0), [X]), "x.at[i].set": (
        lambda x, y, c: x.at[c].set(y[:2]), [X, Y, numpy.asarray([2, 0], numpy.int32)]),
    "x.at[i].add": (lambda x, y, c: x.at[c].add(y), [X, Y, integers(4)]),
    "x.at[i].max": (lambda x, y, c: x.at[c].max(y), [X, Y, integers(4)]),
    "jnp.take_along_axis": (lambda x, i: jnp.take_along_axis(x, i, 1), [X, I]),
    "jnp.segment_sum": (lambda x, c: jax.ops.segment_sum(x, c, 3), [X, integers(4, high=3)]),
    "jnp.segment_max": (lambda x, c: jax.ops.segment_max(x, c, 3), [X, numpy.asarray([0, 1, 2, 1], numpy.int32)]),
    "jnp.meshgrid": (lambda x: x * jnp.meshgrid(jnp.arange(6), jnp.arange(4))[0], [X]),
    "jnp.linspace": (lambda x: x * jnp.linspace(0, 1, 6), [X]), "jnp.eye": (lambda x: x @ jnp.eye(6), [X]),
    "jnp.kron": (lambda x: jnp.kron(x[:2, :2], x[:2, :3]), [X]), "jnp.outer": (lambda x, y: jnp.outer(x[0], y[0]), [X, Y]),
    "jnp.cross": (lambda x, y: jnp.cross(x[:, :3], y[:, :3]), [X, Y]), "jnp.searchsorted": (
        lambda x: x * jnp.searchsorted(jnp.array([-1.0, 0.0, 1.0]), x), [X]),
    "jnp.digitize": (lambda x: x * jnp.digitize(x, jnp.array([-1.0, 0.0, 1.0])), [X]),
    "jnp.unique": (lambda x, i: x * jnp.unique(i, size=6), [X, I]), "jnp.nonzero": (
        lambda x: x[0] * jnp.nonzero(x[0] > 0, size=6)[0], [X]),
    "lax.dynamic_slice": (lambda x, i: lax.dynamic_slice_in_dim(x, i[0, 0], 2, 0), [X, I]),
    "lax.dynamic_update": (lambda x, y, i: lax.dynamic_update_slice_in_dim(x, y[:1], i[0, 0], 0), [X, Y, I]),
    "lax.fori_loop": (lambda x: lax.fori_loop(0, 3, lambda i, s: s * 2 + i, x), [X]),
    "lax.cond_value": (lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), [X]),
    "jnp.linalg.inv": (lambda x: jnp.linalg.inv(x[:, :4]), [X]), "jnp.linalg.det": (
        lambda x: jnp.linalg.det(x[:, :4]), [X]),
    "jnp.fft": (lambda x: jnp.abs(jnp.fft.fft(x)), [X]),
    # jax.nn.
    **{f"nn.{name}": (getattr(jax.nn, name), [X]) for name in (
        "relu", "relu6", "sigmoid", "softplus", "soft_sign", "silu", "log_sigmoid", "leaky_relu", "hard_sigmoid", "hard_silu",
        "hard_tanh", "elu", "celu", "selu", "gelu", "glu", "squareplus", "mish", "sparse_plus", "sparse_sigmoid", "identity",
        "softmax", "log_softmax", "logsumexp", "standardize")},
    "nn.gelu_erf": (lambda x: jax.nn.gelu(x, approximate=False), [X]), "nn.one_hot": (
        lambda x, c: x * jax.nn.one_hot(c, 6), [X, C]),
    "nn.softmax_where": (lambda x, y: jax.nn.softmax(x, where=y > 0), [X, Y]),
    "nn.logsumexp_weighted": (lambda x, y: jax.nn.logsumexp(x, axis=-1, b=y * y), [X, Y]),
    "nn.prelu": (lambda x, a: jnp.where(x > 0, x, a * x), [X, floats(6)]), "layer_norm": (layer_norm, [X]),
    "group_norm": (group_norm, [IMAGE]), "instance_norm": (instance_norm, [IMAGE]),
    "nn.attention": (attended(), [Q, Q, Q]), "nn.attention_gqa": (attended(), [Q, K, V]),
    "nn.attention_causal": (attended(is_causal=True), [Q, K, V]),
    "nn.attention_local": (attended(local_window_size=(2, 0), is_causal=True), [Q, K, V]),
    "nn.attention_local_both": (attended(local_window_size=2), [Q, K, V]),
    "nn.attention_mask": (lambda q, k, v, m: jax.nn.dot_product_attention(q, k, v, mask=(m > 0)[:, None, None, :]),
                          [Q, K, V, integers(2, 8) + numpy.eye(2, 8, dtype=numpy.int32)]),
    "nn.attention_bias": (lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), [Q, K, V, floats(1, 4, 8, 8)]),
    "nn.attention_lengths": (lambda q, k, v, n: jax.nn.dot_product_attention(
        q, k, v, query_seq_lengths=n, key_value_seq_lengths=n), [Q, K, V, numpy.asarray([5, 8], numpy.int32)]),
    # Images.
    "pool.max": (pool(lax.max, -jnp.inf, 2, 2), [IMAGE]), "pool.sum": (pool(lax.add, 0.0, 2, 2), [IMAGE]),
    "pool.max_overlapping": (pool(lax.max, -jnp.inf, 3, 2), [IMAGE]), "pool.sum_same": (
        pool(lax.add, 0.0, 3, 1, "SAME"), [IMAGE]),
    "image.resize": (lambda x: jax.image.resize(x, (2, 16, 16, 3), "bilinear"), [IMAGE]),
    "image.resize_nearest": (lambda x: jax.image.resize(x, (2, 16, 16, 3), "nearest"), [IMAGE]),
    "conv.patches": (lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
                     [IMAGE, floats(2, 2, 3, 5)]),
    "conv.same": (lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
                  [IMAGE, floats(3, 3, 3, 5)]),
    # jax.random.
    **{f"random.{name}": (one_key(lambda key, f=getattr(jax.random, name): f(key, (4, 6))), [X, KEY]) for name in (
        "uniform", "normal", "gumbel", "exponential", "laplace", "logistic", "cauchy", "bernoulli", "bits")
        if name not in ("bernoulli", "bits")},
    "random.bernoulli": (one_key(lambda key: jax.random.bernoulli(key, 0.4, (4, 6))), [X, KEY]),
    "random.truncated_normal": (one_key(lambda key: jax.random.truncated_normal(key, -2.0, 2.0, (4, 6))), [X, KEY]),
    "random.randint": (one_key(lambda key: jax.random.randint(key, (4, 6), 0, 8)), [X, KEY]),
    "random.permutation": (lambda x, key: x * jax.random.permutation(jax.random.wrap_key_data(key), 6), [X, KEY]),
    "random.categorical": (lambda x, key: x * jax.random.categorical(jax.random.wrap_key_data(key), x)[:, None], [X, KEY]),
    "random.choice": (one_key(lambda key: jax.random.choice(key, 6, (4, 6))), [X, KEY]),
    "random.rademacher": (one_key(lambda key: jax.random.rademacher(key, (4, 6), jnp.float32)), [X, KEY]),
    "random.gamma": (one_key(lambda key: jax.random.gamma(key, 2.0, (4, 6))), [X, KEY]),
    "random.split_dropout": (one_key(lambda key: jax.random.bernoulli(jax.random.split(key)[1], 0.9, (4, 6)) / 0.9), [X, KEY]),
    # jax.scipy.special.
    **{f"special.{name}": (getattr(jax.scipy.special, name), [X]) for name in ("erf", "erfc", "expit")},
    **{f"special.{name}": (getattr(jax.scipy.special, name), [P]) for name in ("gammaln", "digamma", "entr")},
    "special.erfinv": (jax.scipy.special.erfinv, [U]), "special.logit": (jax.scipy.special.logit, [P / 3]),
    "special.xlogy": (jax.scipy.special.xlogy, [P, P[::-1].copy()]), "special.kl_div": (jax.scipy.special.kl_div, [P, P[::-1].copy()]),
    "special.logsumexp": (lambda x: jax.scipy.special.logsumexp(x, axis=0), [X]), "special.i0e": (jax.scipy.special.i0e, [X]),
    "special.log_ndtr": (jax.scipy.special.log_ndtr, [X]), "special.ndtri": (jax.scipy.special.ndtri, [P / 3]),
    # Losses.
    "loss.cross_entropy": (lambda x, c: -chosen(x, c).mean(), [X, C]), "loss.smoothed": (smoothed, [X, C]),
    "loss.masked": (perplexity_masked, [X, C]), "loss.bce": (bce, [X, Y]), "loss.focal": (focal, [X, Y]),
    "loss.huber": (huber, [X, Y]), "loss.cosine": (cosine, [X, Y]), "loss.log_cosh": (
        lambda x, y: jnp.logaddexp(x - y, y - x) - jnp.log(2.0), [X, Y]),
    "loss.kl": (lambda x, y: (jax.nn.softmax(y) * (jax.nn.log_softmax(y) - jax.nn.log_softmax(x))).sum(-1), [X, Y]),
    "loss.js": (lambda x, y: jax.scipy.special.rel_entr(jax.nn.softmax(x), jax.nn.softmax(y)).sum(-1), [X, Y]),
    "loss.hinge": (lambda x, y: jnp.maximum(0, 1 - x * jnp.sign(y)), [X, Y]), "loss.ntxent": (ntxent, [X, Y]),
    "loss.triplet": (triplet, [X, Y]), "loss.poly": (poly_loss, [X, C]), "loss.dpo": (
        lambda x, y, c: -jax.nn.log_sigmoid(0.1 * (chosen(x, c) - chosen(y, c))), [X, Y, C]),
    "loss.z": (lambda x, c: -chosen(x, c).mean() + 1e-4 * (jax.nn.logsumexp(x, -1) ** 2).mean(), [X, C]),
    "loss.ppo": (lambda x, y: -jnp.minimum(jnp.exp(x - y) * y, jnp.clip(jnp.exp(x - y), 0.8, 1.2) * y), [X, Y]),
    "loss.poisson": (lambda x, y: jnp.exp(x) - jnp.round(y) * x, [X, Y]), "loss.quantile": (
        lambda x, y: jnp.maximum(0.3 * (y - x), -0.7 * (y - x)), [X, Y]),
    # Models.
    "moe.capacity": (moe, MOE), "moe.dense": (dense_moe, MOE), "scan": (
        lambda x, w: lax.scan(lambda h, each: (jnp.tanh(h @ each), None), x, w)[0], [X, floats(3, 6, 6)]),
    "vmap": (jax.vmap(lambda x, y: (x * y).sum() * x), [X, Y]), "grad_penalty": (
        lambda x, w: (jax.grad(lambda v: jnp.tanh(v @ w).sum())(x) ** 2).sum(), [X, floats(6, 5)]),
}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().split("\n")[0] or f"status {done.returncode}"


def write(function, arguments, path, **options):
    lowered = jax.jit(function, **options).lower(*arguments)
    path.write_text(lowered.compiler_ir().operation.get_asm(print_generic_op_form=True, enable_debug_info=True))


class Case:
    def __init__(self, name, folder):
        function, arrays = FUNCTIONS[name]
        self.name, self.folder = name, folder
        self.params = {f"t{number}": array for number, array in enumerate(arrays) if array.dtype == numpy.float32}
        self.given = {f"t{number}": array for number, array in enumerate(arrays) if array.dtype != numpy.float32}
        self.roles = [f"--input={key}=features" for key in self.given]

        def loss(params, given):
            result = function(*[(params | given)[f"t{number}"] for number in range(len(arrays))])
            size = result.size or 1
            return (result * (1 + jnp.arange(size, dtype=jnp.float32).reshape(result.shape) / size)).sum()

        def step(params, given):
            value, gradients = jax.value_and_grad(loss)(params, given)
            return jax.tree.map(lambda p, g: p - g, params, gradients), value

        self.loss, self.step = loss, step

    def imported(self, form):
        """Returns the message if a form is refused, and else nothing."""
        source, graph = self.folder / "in.mlir", self.folder / f"{form}.mlir"
        options = {"donate_argnums": 0} if form == "step" else {}
        function = self.step if form == "step" else lambda params, given: (self.loss(params, given), params["t0"].sum())
        write(function, (self.params, self.given), source, **options)
        return run("braid-import", source, "-o", graph, *self.roles)

    def error(self, form):
        """Runs an imported form. Returns the largest error of the loss, and of gradients or new parameters."""
        results, graph = self.folder / "out.safetensors", self.folder / f"{form}.mlir"
        text = graph.read_text()
        save_file({key: value.view(numpy.int32) if value.dtype == numpy.uint32 else value
                   for key, value in (self.params | self.given).items()
                   if f'"{key}"' in text}, self.folder / "in.safetensors")
        words = ["--pipeline-before=tg-differentiate{function=model}"] if form == "loss" else []
        if message := run("braid-interp", graph, "--function=model", "--inputs", self.folder / "in.safetensors", "--outputs",
                          results, *words):
            return message
        found = load_file(results)
        if any(re.search(rf'"0\.{key}"', text) for key in self.params):
            return 0.0
        wanted, gradients = jax.value_and_grad(self.loss)(self.params, self.given)
        new = gradients if form == "loss" else jax.tree.map(lambda p, g: p - g, self.params, gradients)
        pairs = [(found.get("loss", found.get("output1")), wanted)]
        for key, value in new.items():
            label = next((each for each in found if re.fullmatch(rf"(grad_of |updates )?{key}", each)), None)
            if label:
                pairs.append((found[label], value))
        errors = [numpy.abs(a - b).max() / max(numpy.abs(b).max(), 1e-3) for a, b in pairs if a is not None]
        return float(numpy.max(errors))  # NaN if one is NaN


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("--")] or list(FUNCTIONS)
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for form in ("loss", "step"):
                case = Case(name, Path(folder))
                try:
                    problem = case.imported(form)
                except Exception as error:  # JAX itself cannot differentiate some functions
                    print(f"{name} ({form}): JAX: {str(error).splitlines()[0]}")
                    counts[form, "not by JAX"] += 1
                    continue
                if not problem and "--values" in sys.argv:
                    found = case.error(form)
                    if not isinstance(found, float) or not found <= 1e-5:
                        print(f"{name} ({form}): WRONG: {found}")
                counts[form, "refused" if problem else "taken"] += 1
                if problem:
                    print(f"{name} ({form}): {problem}")
    print(f"{len(names)} functions")
    for (form, what), count in sorted(counts.items()):
        print(f"  {form}: {count} {what}")


main()
