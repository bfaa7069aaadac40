"""Tokens a second and the share of the GPU's peak, beside PyTorch in the same run.

MFU counts 6 operations a parameter and token, and 12 * layers * width * sequence of
attention (PaLM, appendix B), over the dense bf16 rate of the data sheet.
"""

import re
import statistics
import struct
import sys

from . import kernels, tools

# Dense bf16 operations a second by the names that drivers give (data sheets).
PEAK = {"H200": 989e12, "H100 PCIe": 756e12, "H100": 989e12, "A100": 312e12, "B200": 2250e12, "L40S": 362e12}
SHAPES = {"gpt2": (12, 768), "gpt2-medium": (24, 1024)}
VOCABULARY = 50257
ROUNDS, STEPS, WARM = 3, 30, 10


def write_tokens(path, count):
    """Tokens of a linear congruential generator, as the runtime reads them."""
    state, tokens = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        tokens.append((state >> 33) % VOCABULARY)
    header = struct.pack("<8sIIQQ", b"BRAIDTOK", 1, 2, count, VOCABULARY).ljust(64, b"\0")
    path.write_bytes(header + struct.pack(f"<{count}H", *tokens))


def peak_rate():
    name = tools.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]).splitlines()[0]
    return next((rate for part, rate in PEAK.items() if part in name), None)


def flops_of_token(entry):
    layers, width = SHAPES[entry["preset"]]
    return 6 * entry["parameters"] + 12 * layers * width * entry["seq"]


def training(binary, scratch):
    data = scratch / "tokens"
    if not data.exists():
        write_tokens(data, 4_000_000)
    return [binary, "train", "--data", data, "--seed", 1, "--lr", "1e-4"]


def own_rates(entry, binary, scratch):
    log = scratch / "speed.jsonl"
    tools.run([*training(binary, scratch), "--steps", STEPS, "--log", log], timeout=1800)
    return [line["tokens_per_second"] for line in tools.read_lines(log) if "tokens_per_second" in line][WARM:]


TORCH = r"""
import sys, time, torch, torch.nn.functional as F
from torch import nn
layers, width, batch, seq, compiled, steps, warm = [int(x) for x in sys.argv[1:]]
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (t.view(b, s, width // 64, 64).transpose(1, 2) for t in self.qkv(self.n1(x)).split(width, 2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, width)
        x = x + self.out(a)
        return x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))
class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(50257, width), nn.Embedding(seq, width)
        self.blocks, self.norm = nn.ModuleList(Block() for _ in range(layers)), nn.LayerNorm(width)
    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe(torch.arange(seq, device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.wte.weight)
        return F.cross_entropy(logits.view(-1, 50257).float(), targets.view(-1))
torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
model = Gpt().cuda()
step_model = torch.compile(model) if compiled else model
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
ids = torch.randint(0, 50257, (batch, seq + 1), device="cuda")
for step in range(steps):
    start = time.perf_counter()
    with torch.autocast("cuda", torch.bfloat16):
        loss = step_model(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step(); optimizer.zero_grad(set_to_none=True)
    loss.item()
    if step >= warm:
        print("rate", batch * seq / (time.perf_counter() - start))
"""


def torch_rates(entry, compiled, batch):
    layers, width = SHAPES[entry["preset"]]
    try:
        printed = tools.run([sys.executable, "-c", TORCH, layers, width, batch, entry["seq"], int(compiled), STEPS, WARM],
                            timeout=1800)
    except tools.Failed as error:
        return str(error)
    return [float(rate) for rate in re.findall(r"^rate (.*)$", printed, re.MULTILINE)]


def has_torch():
    try:
        return "True" in tools.run([sys.executable, "-c", "import torch; print(torch.cuda.is_available())"], timeout=120)
    except tools.Failed:
        return False


def figures(entry, rates):
    peak, median = peak_rate(), statistics.median(rates)
    mfu = {"mfu": median * flops_of_token(entry) / peak} if peak else {}
    return {"tokens_per_second_best": max(rates), "tokens_per_second_median": median, **mfu}


def throughput(entry, binary, scratch):
    rates = own_rates(entry, binary, scratch)
    return {"batch": entry["batch"], "seq": entry["seq"], **figures(entry, rates)}


def beside_torch(entry, binary, scratch):
    """Rounds by turns, so that clocks and heat are the same for all.  PyTorch takes
    the largest batch that it can, halved until it fits."""
    if not has_torch():
        return None
    rates = {"braid": [], "eager": [], "compile": []}
    batches = {"eager": entry["batch"], "compile": entry["batch"]}
    for _ in range(ROUNDS):
        rates["braid"] += own_rates(entry, binary, scratch)
        for peer in ("eager", "compile"):
            got = torch_rates(entry, peer == "compile", batches[peer])
            while isinstance(got, str) and "out of memory" in got.lower() and batches[peer] > 1:
                batches[peer] //= 2
                got = torch_rates(entry, peer == "compile", batches[peer])
            if isinstance(got, str):
                raise tools.Failed(f"PyTorch ({peer}): {got}")
            rates[peer] += got
    result = {f"{name}_{key}": value for name, its in rates.items() for key, value in figures(entry, its).items()}
    for peer in ("eager", "compile"):
        result[f"{peer}_batch"] = batches[peer]
        result[f"ratio_to_{peer}_median"] = statistics.median(rates["braid"]) / statistics.median(rates[peer])
        result[f"ratio_to_{peer}_best"] = max(rates["braid"]) / max(rates[peer])
    return result


def kernel_rates(entry, binary, scratch):
    return kernels.measure(entry, binary, scratch, training(binary, scratch))


MEASURES = {"throughput": throughput, "kernels": kernel_rates, "beside_pytorch": beside_torch}
