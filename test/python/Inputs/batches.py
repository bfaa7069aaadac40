#!/usr/bin/env python3
"""Batches of every structure, microbatches, evaluation, outputs, and batches that do not fit."""

import numpy
import torch

import braid
import models


def refused(kind, text, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


def accumulates():
    """The same rows in one batch, in two microbatches at once, and in two calls."""
    _, batches, loss, _ = models.make("mixer")
    losses = []
    for accumulate in (1, 2, 2):
        torch.manual_seed(0)
        with braid.compile(models.Mixer(), batches[0], loss=loss, accumulate=accumulate) as step:
            one_by_one = len(losses) == 2
            found = []
            for x, y in batches[:4]:
                if one_by_one:
                    step.accumulate((x[:2], y[:2]))
                    refused(braid.StepError, "end the step first", step.evaluate, (x[:2], y[:2]))
                    refused(braid.StepError, "the rows of 1 of 2 microbatches", step, (x, y), lr=1e-2)
                    refused(braid.StepError, "of which 1 are done", step.accumulate, (x[:2], y[:2]))
                    found.append(step((x[2:], y[2:]), lr=1e-2))
                else:
                    found.append(step((x, y), lr=1e-2))
            losses.append(found)
    assert all(abs(a - b) < 1e-5 and abs(b - c) < 1e-6 for a, b, c in zip(*losses)), losses
    print("microbatches agree")


def structures():
    """A tuple, a dict, NumPy, bfloat16, other integers and a list give the same loss."""
    _, batches, loss, _ = models.make("mixer")
    x, y = batches[0]
    given = [(x, y), [x, y], (x.numpy(), y.numpy().astype(numpy.int16)), (x.double(), y.int()),
             (memoryview_of(x), y)]
    found = set()
    for batch in given:
        torch.manual_seed(0)
        with braid.compile(models.Mixer(), (x, y), loss=loss) as step:
            found.add(float(step(batch, lr=1e-2)))
    torch.manual_seed(0)
    with braid.compile(models.Mixer(), {"x": x, "labels": y}, loss=lambda out, batch: loss(out, (None, batch["labels"]))) as step:
        found.add(float(step({"x": x, "labels": y}, lr=1e-2)))
    assert len(found) == 1, found
    model = models.Mixer()
    with braid.compile(model, {"x": x, "labels": y}, loss="cross_entropy", forward=True) as step:
        outputs = step.forward({"x": x, "labels": y})
        assert torch.allclose(outputs["output1"], model(x), atol=1e-6)
        wanted = torch.nn.functional.cross_entropy(model(x), y).item()
        assert abs(step.evaluate({"x": x, "labels": y}) - wanted) < 1e-6
    print(f"{len(given) + 1} structures agree")


def memoryview_of(tensor):
    """An object that has nothing but __dlpack__."""
    class Only:
        def __dlpack__(self, **options):
            return tensor.__dlpack__(**options)

        def __dlpack_device__(self):
            return tensor.__dlpack_device__()
    return Only()


def precisions():
    """Modules and steps in bfloat16, masks of booleans and integers, and a frozen layer."""
    x, y = models.mixer_batches(1)[0]
    torch.manual_seed(0)
    half = models.Mixer().bfloat16()
    wanted = torch.nn.functional.cross_entropy(half(x.bfloat16()).float(), y).item()
    with braid.compile(half, (x.bfloat16(), y), loss="cross_entropy") as step:
        assert abs(step((x, y), lr=1e-2) - wanted) < 2e-2 and half.head.weight.dtype == torch.bfloat16
    torch.manual_seed(0)
    model = models.Mixer()
    model.down.requires_grad_(False)
    frozen, before = model.down.weight.clone(), model.head.weight.clone()
    with braid.compile(model, (x, y), loss="cross_entropy", precision="bf16", clip=1.0) as step:
        wanted = torch.nn.functional.cross_entropy(model(x), y).item()
        loss = step((x, y), lr=1e-2)
        assert abs(loss - wanted) < 2e-2 and loss.grad_norm > 0
        assert torch.equal(frozen, model.down.weight) and not torch.equal(before, model.head.weight)
        with torch.no_grad():
            model.head.weight.zero_()
            model.head.bias.zero_()
        step.parameters_changed()
        assert abs(step.evaluate((x, y)) - torch.tensor(5.0).log().item()) < 1e-3

    class Masked(models.Mixer):
        def forward(self, x, keep):
            return super().forward(x * keep[:, :, None].to(x.dtype))

    masked, keep = Masked(), torch.arange(models.LENGTH).expand(models.BATCH, -1) < 5
    for mask in (keep, keep.long()):
        with braid.compile(masked, (x, mask, y), loss="cross_entropy") as step:
            wanted = torch.nn.functional.cross_entropy(masked(x, mask), y).item()
            assert abs(step((x, mask, y), lr=0.0) - wanted) < 1e-5
    with torch.device("meta"):
        empty = models.Mixer()
    with braid.compile(empty, (x, y), loss="cross_entropy", seed=3) as step:
        assert step((x, y), lr=1e-2) > 0 and not empty.head.weight.is_meta
    assert all(torch.isfinite(parameter).all() for parameter in empty.parameters())
    print("precisions agree")


def classes():
    """Labels tell whether classes are the last dim or, as in PyTorch, dim 1; where both fit, the loss is refused."""
    functional = torch.nn.functional
    for shape, dim in (((2, 3, 5), 2), ((2, 5, 3), 1), ((2, 5, 3, 4), 1), ((6, 5), 1)):
        x = torch.randn(shape)
        y = torch.randint(0, 5, shape[:dim] + shape[dim + 1:])
        wanted = functional.cross_entropy(x.movedim(dim, 1), y).item()
        with braid.compile(Scales(), (x, y), loss="cross_entropy") as step:
            assert abs(step.evaluate((x, y)) - wanted) < 1e-5, shape
    x, y = torch.randn(2, 4, 4), torch.randint(0, 4, (2, 4))
    refused(braid.CompileError, "may have their classes in dim 1", braid.compile, Scales(), (x, y), loss="cross_entropy")
    refused(braid.CompileError, "labels have shape [2, 4]; these have [4, 2]", braid.compile, Scales(), (x, y.t()),
            loss="cross_entropy")
    losses = set()
    for loss in (lambda output, batch: functional.cross_entropy(output, batch[1]),
                 lambda output, batch: functional.cross_entropy(output.flatten(0, -2), batch[1].flatten())):
        with braid.compile(Scales(), (x, y), loss=loss) as step:
            losses.add(step.evaluate((x, y)))
    assert len(losses) == 2
    print("dims of classes agree")


class Scales(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.factor


def wrong():
    model, batches, loss, _ = models.make("mixer")
    x, y = batches[0]
    step = braid.compile(model, (x, y), loss=loss)
    refused(braid.StepError, "'x' must have the shape [4, 8, 8]; it has [3, 8, 8]", step, (x[:3], y), lr=1e-2)
    refused(braid.StepError, "must have elements of type float32; it has int64", step, (x.long(), y), lr=1e-2)
    refused(braid.StepError, "the model takes an index from 0 to 4", step, (x, y + 5), lr=1e-2)
    refused(TypeError, "the step was compiled for 0, 1", step, (x,), lr=1e-2)
    refused(TypeError, "a batch is a tensor, a tuple, a list or a dict", step, None, lr=1e-2)
    refused(TypeError, "device 'meta' has no values", step, (x.to("meta"), y), lr=1e-2)
    refused(TypeError, "learning rate of this step", step, (x, y))
    refused(braid.StepError, "the learning rate is nan", step, (x, y), lr=float("nan"))
    refused(braid.StepError, "compile it with forward=True", step.forward, (x, y))
    refused(braid.StepError, "accumulate=", step.accumulate, (x, y))
    refused(braid.StepError, "no-such-place", step.load, "no-such-place")
    before = float(step((x, y), lr=0.0))
    assert before == float(step((x, y), lr=0.0)) and step.steps == 2
    step.close()
    step.close()
    refused(braid.StepError, "the step is closed", step, (x, y), lr=1e-2)
    refused(braid.StepError, "from 1 to", braid.compile, model, (x, y), loss=loss, seed=0)
    refused(TypeError, "unknown option thread", braid.compile, model, (x, y), loss=loss, run_options={"thread": 1})
    print("wrong batches are refused")


accumulates()
structures()
precisions()
classes()
wrong()
