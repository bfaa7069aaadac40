"""Trains GPT-2 or a Llama with PyTorch: fused AdamW, clipped gradients, SDPA attention.

With bf16 autocast, parameters are f32 and matmuls bf16; with bf16, parameters, gradients and AdamW's state are.

The last line has the result as JSON: seconds of the steps after the warm-up and the peak of memory, or that memory ran
out. Runs in any Python that has PyTorch.
"""

import argparse
import array
import json
import time


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--model", default="gpt2", choices=["gpt2", "llama"])
    for name in ("layers", "heads", "width", "vocabulary", "batch", "seq"):
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("kv-heads", "inner"):
        parser.add_argument(f"--{name}", type=int, help="of a Llama")
    parser.add_argument("--precision", default="autocast", choices=["autocast", "bf16"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warm", type=int, default=5, help="steps before the first that counts")
    parser.add_argument("--compile", action="store_true", help="torch.compile instead of eager")
    parser.add_argument("--tokens", required=True, help="file of tokens in the runtime's binary format, two bytes each")
    return parser.parse_args()


arguments = parse()

import torch  # noqa: E402  (after the arguments: it takes seconds)
from torch import nn  # noqa: E402

from torch_models import MODELS  # noqa: E402  (beside this file)


class Clock:
    """Time marks between steps. On a GPU they are in its queue, so that nothing waits for the host."""

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
    """Returns a batch of consecutive sequences; a file with too few starts again."""
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
    model = MODELS[options.model](options).to(options.device)
    if options.precision == "bf16":
        model = model.to(torch.bfloat16)
    step_model = torch.compile(model) if options.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), fused=True)
    ids = read_tokens(options).to(options.device)
    inputs, targets = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    clock = Clock(options.device)
    for step in range(options.warm + options.steps):
        if step == options.warm:
            clock.mark()
        with torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "autocast"):
            loss = step_model(inputs, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= options.warm:
            clock.mark()
    result = {"seconds": clock.seconds(), "loss": loss.item(), "torch": torch.__version__}
    if on_gpu:
        result.update(peak_bytes=torch.cuda.max_memory_reserved(), cudnn=torch.backends.cudnn.version(), cuda=torch.version.cuda)
    return result


if __name__ == "__main__":
    try:
        print(json.dumps(train(arguments)))
    except torch.cuda.OutOfMemoryError as error:
        print(json.dumps({"out_of_memory": str(error)[:300]}))
    except RuntimeError as error:
        # Libraries that run out of memory outside of PyTorch's pool raise another error with the same meaning.
        if "out of memory" not in str(error).lower() and "ALLOC_FAILED" not in str(error):
            raise
        print(json.dumps({"out_of_memory": str(error)[:300]}))
