"""GPT-2 as PyTorch trains it: bf16 autocast, fused AdamW, clipped gradients, SDPA attention.

The last line says what came out, as JSON: seconds of the steps after the warm-up, the most
memory that was taken, and what of it the model itself takes; or that memory ran out.
Self-contained: it runs in whatever Python has PyTorch.
"""

import argparse
import array
import json
import time


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    for name in ("layers", "heads", "width", "vocabulary", "batch", "seq"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warm", type=int, default=5, help="steps before the first that counts")
    parser.add_argument("--compile", action="store_true", help="torch.compile instead of eager")
    parser.add_argument("--tokens", required=True, help="file of tokens in the runtime's binary format, two bytes each")
    parser.add_argument("--limit", type=int, default=0, help="bytes of device memory that may be taken; 0: all")
    return parser.parse_args()


arguments = parse()

import torch  # noqa: E402  (after the arguments: it takes seconds)
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, s, width = x.shape
        q, k, v = (t.view(b, s, self.heads, width // self.heads).transpose(1, 2)
                   for t in self.qkv(self.norm1(x)).split(width, 2))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, width)
        x = x + self.out(a)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """Returns the loss; the head is the token embedding."""

    def __init__(self, layers, heads, width, vocabulary, seq):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(seq, width)
        self.blocks, self.norm = nn.ModuleList(Block(width, heads) for _ in range(layers)), nn.LayerNorm(width)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, ids, targets):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


class Clock:
    """Marks between steps: on a GPU in its queue, so that nothing waits for the host."""

    def __init__(self, device):
        self.device, self.marks = device, []

    def mark(self):
        if self.device == "cpu":
            self.marks.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self.marks.append(event)

    def seconds(self):
        if self.device == "cpu":
            return [b - a for a, b in zip(self.marks, self.marks[1:])]
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1e3 for a, b in zip(self.marks, self.marks[1:])]


def read_tokens(options):
    """A batch of sequences, one behind the other; a file that has fewer is begun again."""
    tokens, count = array.array("H"), options.batch * (options.seq + 1)
    with open(options.tokens, "rb") as file:
        file.seek(64)
        tokens.frombytes(file.read(2 * count))
    tokens = (tokens.tolist() * -(-count // len(tokens)))[:count]
    return torch.tensor(tokens).view(options.batch, options.seq + 1)


def train(options):
    on_gpu = options.device == "cuda"
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    if on_gpu and options.limit:
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, options.limit / total))
    model = Gpt(options.layers, options.heads, options.width, options.vocabulary, options.seq).to(options.device)
    step_model = torch.compile(model) if options.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), fused=True)
    ids = read_tokens(options).to(options.device)
    inputs, targets = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    clock = Clock(options.device)
    for step in range(options.warm + options.steps):
        if step == options.warm:
            clock.mark()
        with torch.autocast(options.device, torch.bfloat16):
            loss = step_model(inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= options.warm:
            clock.mark()
    result = {"seconds": clock.seconds(), "loss": loss.item(), "torch": torch.__version__}
    if on_gpu:
        result.update(peak_bytes=torch.cuda.max_memory_reserved(), state_bytes=torch.cuda.memory_allocated(),
                      cudnn=torch.backends.cudnn.version(), cuda=torch.version.cuda)
    return result


if __name__ == "__main__":
    try:
        print(json.dumps(train(arguments)))
    except torch.cuda.OutOfMemoryError as error:
        print(json.dumps({"out_of_memory": str(error)[:300]}))
    except RuntimeError as error:
        # What libraries take outside of PyTorch's pool ends differently, and means the same.
        if "out of memory" not in str(error).lower() and "ALLOC_FAILED" not in str(error):
            raise
        print(json.dumps({"out_of_memory": str(error)[:300]}))
