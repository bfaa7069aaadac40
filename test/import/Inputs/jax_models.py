"""JAX functions of the tests, their parameters and their batches. Needs jax."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy

import stablehlo

INPUTS = Path(__file__).parent
BATCH, SEQUENCE, STEPS, VOCABULARY = 4, 8, 10, 32
SIZE, HEADS, LAYERS = 16, 2, 2


def normal(key, *shape):
    return 0.2 * jax.random.normal(key, shape)


#
# A GPT-2: layer norms, masks by jnp.tril, a list of layers, a head that is the table of tokens.
#


def layer_norm(x, p):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.var(x, axis=-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * p["g"] + p["b"]


def gpt2_block(x, p):
    batch, length, size = x.shape
    qkv = layer_norm(x, p["ln_1"]) @ p["c_attn"]["w"] + p["c_attn"]["b"]
    q, k, v = (part.reshape(batch, length, HEADS, size // HEADS).transpose(0, 2, 1, 3) for part in jnp.split(qkv, 3, -1))
    scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(size / HEADS)
    mask = jnp.tril(jnp.ones((length, length)))
    scores = jnp.where(mask == 0, -1e10, scores)
    heads = (jax.nn.softmax(scores, axis=-1) @ v).transpose(0, 2, 1, 3).reshape(batch, length, size)
    x = x + heads @ p["c_proj"]["w"] + p["c_proj"]["b"]
    hidden = jax.nn.gelu(layer_norm(x, p["ln_2"]) @ p["c_fc"]["w"] + p["c_fc"]["b"])
    return x + hidden @ p["mlp_proj"]["w"] + p["mlp_proj"]["b"]


def gpt2(params, tokens, targets):
    x = params["wte"][tokens] + params["wpe"][jnp.arange(tokens.shape[1])]
    for p in params["h"]:
        with jax.named_scope("block"):
            x = gpt2_block(x, p)
    logits = layer_norm(x, params["ln_f"]) @ params["wte"].T
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], axis=-1)
    return -jnp.mean(chosen)


def gpt2_params():
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 100))

    def linear(rows, columns):
        return {"w": normal(next(keys), rows, columns), "b": normal(next(keys), columns)}

    def norm():
        return {"g": 1 + normal(next(keys), SIZE), "b": normal(next(keys), SIZE)}

    layers = [{"ln_1": norm(), "c_attn": linear(SIZE, 3 * SIZE), "c_proj": linear(SIZE, SIZE), "ln_2": norm(),
               "c_fc": linear(SIZE, 4 * SIZE), "mlp_proj": linear(4 * SIZE, SIZE)} for _ in range(LAYERS)]
    return {"wte": normal(next(keys), VOCABULARY, SIZE), "wpe": normal(next(keys), 16, SIZE), "h": layers, "ln_f": norm()}


#
# A Llama: lax.scan over stacked layers, whose steps are rematerialized; RMS norms, rotations, grouped heads.
#


def rms_norm(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * weight


def rotate(x):
    length, half = x.shape[1], x.shape[3] // 2
    frequencies = 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angles = jnp.arange(length, dtype=jnp.float32)[:, None] * frequencies[None, :]
    cos, sin = jnp.cos(angles)[None, :, None, :], jnp.sin(angles)[None, :, None, :]
    low, high = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


def llama_block(x, p):
    batch, length, size = x.shape
    h = rms_norm(x, p["attention_norm"])
    q = rotate(jnp.einsum("bsd,dhk->bshk", h, p["wq"]))
    k = rotate(jnp.einsum("bsd,dhk->bshk", h, p["wk"]))
    v = jnp.einsum("bsd,dhk->bshk", h, p["wv"])
    k, v = jnp.repeat(k, HEADS, axis=2), jnp.repeat(v, HEADS, axis=2)
    scores = jnp.einsum("bqhk,bthk->bhqt", q, k) * (size // HEADS) ** -0.5
    position = jnp.arange(length)
    scores = jnp.where(position[:, None] >= position[None, :], scores, -jnp.inf)
    heads = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores), v)
    x = x + jnp.einsum("bshk,hkd->bsd", heads, p["wo"])
    h = rms_norm(x, p["ffn_norm"])
    return x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"], None


def llama(params, tokens, targets):
    x = params["embedding"][tokens]
    x, _ = jax.lax.scan(jax.checkpoint(llama_block), x, params["layers"])
    logits = rms_norm(x, params["norm"]) @ params["output"]
    chosen = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)


def llama_params():
    keys = iter(jax.random.split(jax.random.PRNGKey(2), 100))
    head = SIZE // HEADS

    def stacked(*shape):
        return normal(next(keys), LAYERS, *shape)

    layers = {"attention_norm": 1 + stacked(SIZE), "wq": stacked(SIZE, HEADS, head), "wk": stacked(SIZE, 1, head),
              "wv": stacked(SIZE, 1, head), "wo": stacked(HEADS, head, SIZE), "ffn_norm": 1 + stacked(SIZE),
              "w1": stacked(SIZE, 2 * SIZE), "w3": stacked(SIZE, 2 * SIZE), "w2": stacked(2 * SIZE, SIZE)}
    return {"embedding": normal(next(keys), VOCABULARY, SIZE), "layers": layers, "norm": 1 + normal(next(keys), SIZE),
            "output": normal(next(keys), SIZE, VOCABULARY)}


#
# A model in the manner of Flax: jax.nn.dot_product_attention, GELU with erf, targets as one-hot rows.
#


def rotate_half(x):
    length, size = x.shape[1], x.shape[3]
    frequencies = 1.0 / (10000.0 ** (jnp.arange(0, size, 2, dtype=jnp.float32) / size))
    angles = jnp.einsum("i,j->ij", jnp.arange(length, dtype=jnp.float32), frequencies)
    angles = jnp.concatenate([angles, angles], axis=-1)
    cos, sin = jnp.cos(angles)[None, :, None, :], jnp.sin(angles)[None, :, None, :]
    turned = jnp.concatenate([-x[..., size // 2:], x[..., :size // 2]], axis=-1)
    return x * cos + turned * sin


def flaxlike(params, batch):
    x = params["embed"]["embedding"][batch["tokens"]]
    for name in ("layers_0", "layers_1"):
        p = params[name]
        h = layer_norm_scaled(x, p["norm"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, p[each]["kernel"]) for each in ("query", "key", "value"))
        heads = jax.nn.dot_product_attention(rotate_half(q), rotate_half(k), v, is_causal=True)
        x = x + jnp.einsum("bshk,hkd->bsd", heads, p["out"]["kernel"])
        x = x + jax.nn.gelu(h @ p["up"]["kernel"], approximate=False) @ p["down"]["kernel"]
    logits = x @ params["head"]["kernel"]
    rows = jax.nn.one_hot(batch["targets"], VOCABULARY)
    return -jnp.sum(rows * jax.nn.log_softmax(logits)) / (BATCH * SEQUENCE)


def layer_norm_scaled(x, p):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * (jax.lax.rsqrt(variance + 1e-6) * p["scale"]) + p["bias"]


def flaxlike_params():
    keys = iter(jax.random.split(jax.random.PRNGKey(3), 100))
    head = SIZE // 4

    def kernel(*shape):
        return {"kernel": normal(next(keys), *shape)}

    layers = {f"layers_{number}": {
        "norm": {"scale": 1 + normal(next(keys), SIZE), "bias": normal(next(keys), SIZE)}, "query": kernel(SIZE, 4, head),
        "key": kernel(SIZE, 2, head), "value": kernel(SIZE, 2, head), "out": kernel(4, head, SIZE),
        "up": kernel(SIZE, 2 * SIZE), "down": kernel(2 * SIZE, SIZE)} for number in range(2)}
    return {"embed": {"embedding": normal(next(keys), VOCABULARY, SIZE)}, **layers, "head": kernel(SIZE, VOCABULARY)}


#
# A regression: features and labels instead of tokens.
#


def mlp(params, features, labels):
    hidden = jax.nn.relu(features @ params["up"]["w"] + params["up"]["b"])
    return jnp.mean((hidden @ params["down"]["w"] + params["down"]["b"] - labels) ** 2)


def mlp_params():
    keys = iter(jax.random.split(jax.random.PRNGKey(4), 100))
    return {"up": {"w": normal(next(keys), 5, SIZE), "b": normal(next(keys), SIZE)},
            "down": {"w": normal(next(keys), SIZE, 3), "b": normal(next(keys), 3)}}


MODELS = {"jax_mlp": (mlp, mlp_params), "jax_gpt2": (gpt2, gpt2_params), "jax_llama": (llama, llama_params), "jax_flaxlike": (flaxlike, flaxlike_params)}


def batches(name):
    words = numpy.fromfile(INPUTS / "tokens.bin", dtype=numpy.uint16)
    for step in range(STEPS):
        if name == "jax_mlp":
            keys = jax.random.split(jax.random.PRNGKey(step), 2)
            yield numpy.asarray(normal(keys[0], BATCH, 5)), numpy.asarray(normal(keys[1], BATCH, 3))
            continue
        rows = words[step * BATCH * SEQUENCE:(step + 1) * BATCH * SEQUENCE + 1].astype(numpy.int32)
        tokens, targets = rows[:-1].reshape(BATCH, SEQUENCE), rows[1:].reshape(BATCH, SEQUENCE)
        yield ({"tokens": tokens, "targets": targets},) if name == "jax_flaxlike" else (tokens, targets)


def named(params):
    return {name: numpy.asarray(leaf) for name, leaf in stablehlo.named_leaves(params, stacked=("layers",))}


def adamw(params, gradients, first, second, step):
    """A step with decoupled weight decay."""
    rate, beta1, beta2, epsilon = 1e-2, 0.9, 0.95, 1e-3

    def update(p, g, m, v):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        scaled = (m / (1 - beta1 ** step)) / (jnp.sqrt(v / (1 - beta2 ** step)) + epsilon)
        return p - rate * 0.1 * p - rate * scaled, m, v

    results = jax.tree.map(update, params, gradients, first, second)
    return [jax.tree.map(lambda each, i=i: each[i], results, is_leaf=lambda x: isinstance(x, tuple)) for i in range(3)]
