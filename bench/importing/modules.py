#!/usr/bin/env python3
"""Trains networks of many kinds beside eager PyTorch: what a user may write who has no model of a known family.

  modules.py [NAME...]

Each takes five steps of AdamW in both. Prints the largest difference of a loss relative to the loss, and of a tensor
relative to its largest number. Parameters without a gradient in exact arithmetic, such as biases of keys, differ by
rounding errors that Adam enlarges. Needs torch, and the tools in PATH.
"""
import copy
import math
import sys
import warnings
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
import braid

ROWS, LENGTH, SIZE, WORDS = 4, 16, 32, 50


class Net(nn.Module):
    """A loss as a function of the batch, and its layers."""

    def __init__(self, loss, **layers):
        super().__init__()
        self.loss = loss
        for name, layer in layers.items():
            self.register_parameter(name, layer) if isinstance(layer, nn.Parameter) else self.add_module(name, layer)

    def forward(self, *batch):
        return self.loss(self, *batch)


def words_loss(hidden, head, targets):
    return F.cross_entropy(head(hidden).flatten(0, 1), targets.flatten())


def causal():
    return nn.Transformer.generate_square_subsequent_mask(LENGTH)


def decoder(net, x, y):
    hidden = net.words(x) + net.places
    normed = net.norm(hidden)
    turned, _ = net.attention(normed, normed, normed, attn_mask=causal(), need_weights=False, is_causal=True)
    return words_loss(hidden + turned, net.head, y)


def classifier(net, x, y):
    return F.cross_entropy(net.head(net.body(net.words(x), src_key_padding_mask=x == 0).mean(1)), y)


def translator(net, x, y, z):
    return words_loss(net.body(net.words(x), net.words(y), tgt_mask=causal(), tgt_is_causal=True), net.head, z)


def autoencoder(net, x, y):
    return F.binary_cross_entropy(net.back(net.forth(x)), y)


def implicit_image(net, x, y):
    return F.mse_loss(net.last(torch.sin(30 * net.second(torch.sin(30 * net.first(x))))), y)


def graph_network(net, x, edges, y):
    scale = edges.sum(-1).clamp(min=1).rsqrt()
    links = scale[:, :, None] * edges * scale[:, None, :]
    hidden = links @ F.relu(net.first(links @ x))
    return F.nll_loss(F.log_softmax(net.last(hidden), -1).flatten(0, 1), y.flatten())


def radiance(net, x, y):
    waves = x[..., None] * 2.0 ** torch.arange(10)
    waves = torch.cat([waves.sin(), waves.cos()], -1).flatten(-2)
    hidden = F.relu(net.second(torch.cat([F.relu(net.first(waves)), waves], -1)))
    out = net.last(hidden)
    opaque = 1 - torch.exp(-F.relu(out[..., 3]) * 0.1)
    seen = torch.cumprod(torch.cat([torch.ones_like(opaque[:, :1]), 1 - opaque + 1e-10], 1), 1)[:, :-1]
    return F.mse_loss(((opaque * seen)[..., None] * out[..., :3].sigmoid()).sum(1), y)


def contrast(net, x, y):
    a, b = F.normalize(net.first(x), dim=-1), F.normalize(net.second(y), dim=-1)
    logits, own = net.scale.exp() * a @ b.t(), torch.arange(x.shape[0])
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.t(), own)) / 2


def mixture_density(net, x, y):
    weight, mean, log_std = net.last(torch.tanh(net.first(x))).chunk(3, -1)
    log = F.log_softmax(weight, -1) - 0.5 * ((y - mean) / log_std.exp()) ** 2 - log_std - 0.5 * math.log(2 * math.pi)
    return -torch.logsumexp(log, -1).mean()


def linear_biases(net, x, y):
    q, k, v = net.qkv(net.words(x)).view(ROWS, LENGTH, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
    slopes = torch.tensor([2.0 ** (-2 * (head + 1)) for head in range(4)])
    places = torch.arange(LENGTH)
    bias = -(places[:, None] - places).abs() * slopes[:, None, None]
    hidden = torch.ones(LENGTH, LENGTH).triu(1).bool()
    scores = (q @ k.transpose(-1, -2) / 8**0.5 + bias).masked_fill(hidden, float("-inf"))
    return words_loss((scores.softmax(-1) @ v).transpose(1, 2).reshape(ROWS, LENGTH, SIZE), net.head, y)


def linear_attention(net, x, y):
    q, k, v = net.qkv(net.words(x)).chunk(3, -1)
    q, k = F.elu(q) + 1, F.elu(k) + 1
    sums = torch.einsum("bsd,bse->bsde", k, v).cumsum(1)
    scale = 1 / (torch.einsum("bsd,bsd->bs", q, k.cumsum(1)) + 1e-6)
    return words_loss(torch.einsum("bsd,bsde,bs->bse", q, sums, scale), net.head, y)


def factors(net, users, items, y):
    return F.mse_loss((net.users(users) * net.items(items)).sum(-1) + net.biases(users).squeeze(-1), y)


def diffusion(net, x, noise, times):
    rates = torch.exp(-math.log(10000) * torch.arange(16) / 16)
    angles = times[:, None].float() * rates
    kept = torch.cos(times.float() / 1000 * math.pi / 2) ** 2
    noisy = kept.sqrt()[:, None] * x + (1 - kept).sqrt()[:, None] * noise
    return F.mse_loss(net.last(F.mish(net.first(torch.cat([noisy, angles.cos(), angles.sin()], -1)))), noise)


def recurrent_cell(net, x, y):
    state, states = torch.zeros(ROWS, SIZE), []
    for word in net.words(x).unbind(1):
        state = net.cell(word, state)
        states.append(state)
    return words_loss(torch.stack(states, 1), net.head, y)


def sets(net, x, mask, y):
    hidden = F.gelu(net.first(x)) * mask[..., None]
    mean = hidden.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
    largest = hidden.masked_fill(mask[..., None] == 0, -1e9).amax(1)
    return F.cross_entropy(net.last(mean + largest), y, label_smoothing=0.1)


def rounded_weights(net, x, y):
    weight = net.first.weight
    rounded = weight + (torch.round(weight * 8) / 8 - weight).detach()
    return F.huber_loss(net.last(F.relu6(F.linear(x, rounded, net.first.bias))), y)


def codebook(net, x):
    z = net.first(x)
    code = net.codes(torch.cdist(z, net.codes.weight).argmin(-1))
    loss = F.mse_loss(code, z.detach()) + 0.25 * F.mse_loss(z, code.detach())
    return loss + F.mse_loss(net.last(z + (code - z).detach()), x)


def student(net, x):
    return 4 * F.kl_div(F.log_softmax(net.student(x) / 2, -1), F.softmax(net.teacher(x) / 2, -1), reduction="batchmean")


def image_classifier(net, x, y):
    return F.cross_entropy(net.head(net.body(x).mean((2, 3))), y)


def linear(inputs, outputs, **options):
    return nn.Linear(inputs, outputs, **options)


def words():
    return nn.Embedding(WORDS, SIZE)


def layers_of_transformer(count):
    layer = nn.TransformerEncoderLayer(SIZE, 4, 64, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, count, enable_nested_tensor=False)


def networks():
    """Yields the name of each network, a function that makes it, and its batch."""
    normal, uniform, integers = torch.randn, torch.rand, torch.randint
    x, y = normal(ROWS * 4, SIZE), normal(ROWS * 4, 1)
    tokens, targets, more = (integers(0, WORDS, (ROWS, LENGTH)) for _ in range(3))
    kinds = integers(0, 5, (ROWS,))
    yield "attention", lambda: Net(
        decoder, words=words(), places=nn.Parameter(normal(LENGTH, SIZE) * 0.02), norm=nn.LayerNorm(SIZE),
        attention=nn.MultiheadAttention(SIZE, 4, batch_first=True), head=linear(SIZE, WORDS)), (tokens, targets)
    yield "encoder with padding", lambda: Net(
        classifier, words=words(), body=layers_of_transformer(2), head=linear(SIZE, 5)), (tokens, kinds)
    yield "encoder and decoder", lambda: Net(
        translator, words=words(), body=nn.Transformer(SIZE, 4, 1, 1, 64, dropout=0.0, batch_first=True),
        head=linear(SIZE, WORDS)), (tokens, targets, more)
    yield "autoencoder with batch norm", lambda: Net(
        autoencoder, forth=nn.Sequential(linear(SIZE, 64, bias=False), nn.BatchNorm1d(64), nn.LeakyReLU(0.1),
                                         linear(64, 8), nn.Tanh()),
        back=nn.Sequential(linear(8, 64), nn.ELU(), linear(64, SIZE), nn.Sigmoid())), (x, uniform(ROWS * 4, SIZE))
    yield "implicit image", lambda: Net(
        implicit_image, first=linear(2, 64), second=linear(64, 64), last=linear(64, 3)), (normal(64, 2), uniform(64, 3))
    yield "graph network", lambda: Net(
        graph_network, first=linear(SIZE, 64), last=linear(64, 5)), (
            normal(ROWS, LENGTH, SIZE), uniform(ROWS, LENGTH, LENGTH).round(), integers(0, 5, (ROWS, LENGTH)))
    yield "radiance field", lambda: Net(
        radiance, first=linear(60, 64), second=linear(124, 64), last=linear(64, 4)), (
            normal(ROWS, LENGTH, 3), uniform(ROWS, 3))
    yield "contrastive pair", lambda: Net(
        contrast, first=linear(SIZE, 16), second=linear(SIZE, 16), scale=nn.Parameter(torch.tensor(2.6))), (
            x, normal(ROWS * 4, SIZE))
    yield "mixture density", lambda: Net(mixture_density, first=linear(SIZE, 64), last=linear(64, 15)), (x, y)
    yield "attention with linear biases", lambda: Net(
        linear_biases, words=words(), qkv=linear(SIZE, 3 * SIZE), head=linear(SIZE, WORDS)), (tokens, targets)
    yield "linear attention", lambda: Net(
        linear_attention, words=words(), qkv=linear(SIZE, 3 * SIZE), head=linear(SIZE, WORDS)), (tokens, targets)
    yield "matrix factors", lambda: Net(
        factors, users=nn.Embedding(100, 16), items=nn.Embedding(200, 16), biases=nn.Embedding(100, 1)), (
            integers(0, 100, (32,)), integers(0, 200, (32,)), normal(32))
    yield "diffusion", lambda: Net(diffusion, first=linear(SIZE + 32, 64), last=linear(64, SIZE)), (
        x, normal(ROWS * 4, SIZE), integers(0, 1000, (ROWS * 4,)))
    yield "triplets", lambda: Net(
        lambda net, a, b, c: F.triplet_margin_loss(net.body(a), net.body(b), net.body(c)), body=linear(SIZE, 16)), (
            x, normal(ROWS * 4, SIZE), normal(ROWS * 4, SIZE))
    yield "weight norm", lambda: Net(
        lambda net, a, b: F.smooth_l1_loss(net.last(F.glu(net.first(a))), b),
        first=nn.utils.parametrizations.weight_norm(linear(SIZE, 64)), last=linear(32, 1)), (x, y)
    yield "spectral norm", lambda: Net(
        lambda net, a, b: F.softplus(-net.last(F.hardswish(net.first(a))) * b).mean(),
        first=nn.utils.parametrizations.spectral_norm(linear(SIZE, 64)), last=linear(64, 1)), (x, y.sign())
    yield "GRU cell", lambda: Net(
        recurrent_cell, words=words(), cell=nn.GRUCell(SIZE, SIZE), head=linear(SIZE, WORDS)), (tokens, targets)
    yield "LSTM", lambda: Net(
        lambda net, a, b: words_loss(net.body(net.words(a))[0], net.head, b), words=words(),
        body=nn.LSTM(SIZE, SIZE, batch_first=True), head=linear(SIZE, WORDS)), (tokens, targets)
    yield "convolutions", lambda: Net(
        image_classifier, body=nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
                                             nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU()),
        head=linear(16, 5)), (normal(ROWS, 3, 16, 16), kinds)
    yield "sets", lambda: Net(sets, first=linear(SIZE, 64), last=linear(64, 5)), (
        normal(ROWS, LENGTH, SIZE), uniform(ROWS, LENGTH).round(), kinds)
    yield "rounded weights", lambda: Net(rounded_weights, first=linear(SIZE, 64), last=linear(64, 1)), (x, y)
    yield "student and teacher", lambda: Net(
        student, teacher=linear(SIZE, 10).requires_grad_(False), student=linear(SIZE, 10)), (x,)
    yield "codebook", lambda: Net(codebook, first=linear(SIZE, 8), codes=nn.Embedding(16, 8), last=linear(8, SIZE)), (x,)


def compare(make, batch):
    """Returns the largest differences of losses and of tensors."""
    torch.manual_seed(0)
    model = make().train()
    eager = copy.deepcopy(model)
    optimizer = torch.optim.AdamW([each for each in eager.parameters() if each.requires_grad], 1e-3, weight_decay=0.01)
    losses = []
    with braid.compile(model, batch if len(batch) > 1 else batch[0], weight_decay=0.01) as step:
        for _ in range(5):
            ours = float(step(batch if len(batch) > 1 else batch[0], lr=1e-3))
            optimizer.zero_grad()
            loss = eager(*batch)
            loss.backward()
            optimizer.step()
            losses.append(abs(ours - loss.item()) / abs(loss.item()))
    tensors = zip(model.state_dict().values(), eager.state_dict().values())
    return max(losses), max(float((a - b).abs().max() / b.abs().max().clamp(min=1e-6)) for a, b in tensors)


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(1)
    chosen, equal, count = sys.argv[1:], 0, 0
    for name, make, batch in networks():
        if chosen and name not in chosen:
            continue
        count += 1
        try:
            loss, tensor = compare(make, batch)
            print(f"{name:30} losses {loss:.0e}, tensors {tensor:.0e}", flush=True)
            equal += loss <= 1e-5
        except braid.CompileError as error:
            print(f"{name:30} refused: {str(error).splitlines()[0]}", flush=True)
    print(f"{count} networks, {equal} with losses within 1e-5")


main()
