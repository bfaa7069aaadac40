"""Compares random numbers and dropout of imported functions with JAX's."""

import jax
import jax.numpy as jnp
import numpy

import braid

KEYS = ((0, 0), (7, 2**31 + 5), (2**32 - 1, 100))


def numbers(draw):
    """The loss of a function that draws 4 x 6 numbers from a key."""
    weights = jnp.arange(24.0).reshape(4, 6)
    return lambda params, key: jnp.mean(draw(jax.random.wrap_key_data(key)) * weights * params["w"])


DRAWS = {
    "uniform": lambda key: jax.random.uniform(key, (4, 6)),
    "split": lambda key: jax.random.uniform(jax.random.split(key, 3)[1], (4, 6), minval=-1.0, maxval=2.0),
    "fold_in": lambda key: jax.random.uniform(jax.random.fold_in(key, 11), (4, 6)),
    "bernoulli": lambda key: jax.random.bernoulli(key, 0.3, (4, 6)),
}


def compare(name, draw):
    loss, params = numbers(draw), {"w": jnp.ones((4, 6))}
    graph = braid.from_jax(loss, params, jnp.zeros(2, jnp.uint32))
    step = braid.compile_graph(graph, optimizer="sgd")
    for words in KEYS:
        key = jnp.asarray(words, jnp.uint32)
        wanted, found = float(loss(params, key)), float(step((key,), lr=0.0))
        assert abs(wanted - found) <= 1e-6 * abs(wanted), (name, words, wanted, found)
    print(name, "is equal")


def dropout(key, x, keep):
    return jnp.where(jax.random.bernoulli(key, keep, x.shape), x / keep, 0.0)


def mlp(params, x, y, key):
    first, second = jax.random.split(key)
    hidden = dropout(first, jax.nn.gelu(x @ params["w"]), 0.8)
    return jnp.mean((dropout(second, hidden, 0.5) @ params["v"] - y) ** 2)


def layers(params, x, y, key):
    """Two layers by scan, with a key for each, computed again in the backward pass."""
    @jax.checkpoint
    def layer(h, inputs):
        weight, own = inputs
        return dropout(own, jnp.tanh(h @ weight), 0.7), None

    keys = jax.random.key_data(jax.random.split(key, 2))
    h, _ = jax.lax.scan(lambda h, its: layer(h, (its[0], jax.random.wrap_key_data(its[1]))), x, (params["w"], keys))
    return jnp.mean((h @ params["v"] - y) ** 2)


def train(loss, params, is_typed):
    random = numpy.random.default_rng(0)
    x, y = (jnp.asarray(random.normal(size=shape), jnp.float32) for shape in ((8, 16), (8, 4)))
    own = loss if is_typed else lambda params, x, y, key: loss(params, x, y, jax.random.wrap_key_data(key))
    key_of = (lambda key: key) if is_typed else jax.random.key_data
    graph = braid.from_jax(own, params, x, y, key_of(jax.random.key(0)), check=True)
    step = braid.compile_graph(graph, optimizer="sgd")
    ours = params
    for number in range(4):
        key = jax.random.key(number + 10)
        wanted, gradients = jax.value_and_grad(loss)(ours, x, y, key)
        ours = jax.tree.map(lambda a, b: a - 0.1 * b, ours, gradients)
        found = float(step((x, y, key_of(key)), lr=0.1))
        assert abs(float(wanted) - found) <= 1e-5 * abs(float(wanted)), (number, float(wanted), found)
    trained = braid.to_jax(step, params)
    for name in params:
        assert numpy.allclose(trained[name], ours[name], rtol=0, atol=1e-5), name
    return graph, (x, y, key_of(jax.random.key(3)))


def main():
    for name, draw in DRAWS.items():
        compare(name, draw)
    random = numpy.random.default_rng(1)
    weights = lambda *shape: jnp.asarray(random.normal(size=shape) / 4, jnp.float32)
    for is_typed in (True, False):
        graph, batch = train(mlp, {"w": weights(16, 32), "v": weights(32, 4)}, is_typed)
    print("dropout trains as in JAX, with typed keys and numbers")
    train(layers, {"w": weights(2, 16, 16), "v": weights(16, 4)}, True)
    print("dropout trains as in JAX under remat and scan")
    first, second = (float(braid.compile_graph(graph, optimizer="sgd")(batch, lr=0.1)) for _ in range(2))
    assert first == second, (first, second)
    print("two steps of one graph begin with the same values")


main()
