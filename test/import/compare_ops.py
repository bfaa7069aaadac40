#!/usr/bin/env python3
"""Compares imported ops with PyTorch: results, and gradients of float inputs.

  compare_ops.py BIN [NAME...]

Each case is a function of tensors. It is exported with its inputs as parameters, imported, and differentiated and run by
braid-interp with the tensors' values. Needs torch and safetensors; exits with 77 without them. A row of the table
without a case is an error, so a new row needs a case here.
"""
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "Inputs"))
import op_cases

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
    "cumsum": (lambda x: x.cumsum(1), [X]),
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
    ops = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    return ops, max(errors)


warnings.filterwarnings("ignore")
op_cases.main(CASES, compare, TOLERANCE, f"torch {torch.__version__}")
