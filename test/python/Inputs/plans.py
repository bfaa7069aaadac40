#!/usr/bin/env python3
"""braid.fit plans a model on the device `meta` as it plans the model itself; tied parameters are one."""

import torch

import braid
import models


def main():
    for make in (models.gpt2, models.llama):
        with torch.device("meta"):
            empty = make().train()
        batch = models.token_batches(1, rows=8)[0]
        options = {"gpus": 4, "meshes": ["dp=4", "tp=2,dp=2"], "zero": (0, 3), "recompute": ("none",)}
        real = braid.fit(make().train(), batch, **options)
        plans = braid.fit(empty, {name: value.to("meta") if name != "use_cache" else value for name, value in batch.items()},
                          **options)
        large = braid.fit(empty, batch, gpu="h200", **options)
        assert large.memory_bytes == int(0.9 * 141e9) and plans.memory_bytes == int(0.9 * 80e9)
        assert [row["peak_bytes"] for row in large] == [row["peak_bytes"] for row in plans]
        assert [row["peak_bytes"] for row in plans] == [row["peak_bytes"] for row in real] and len(plans) == 4
        assert all(parameter.is_meta for parameter in empty.parameters())
        count = sum(parameter.numel() for parameter in empty.parameters())
        # bf16 parameters, with float32 masters and moments; rows may be padded.
        persistent = plans[0]["persistent_bytes"]
        assert 14 * count <= persistent <= 17 * count, (count, persistent)
        state = {name: value.clone() for name, value in make().state_dict().items()}
        assert set(braid.graph_of(empty, batch).values) < set(state) | {"model.rotary_emb.inv_freq"}
    print("plans of 2 models without weights are those of the models")
    # Without PyTorch's device `meta` for buffers, their values are known; else they count as zeros, and that is said.
    with torch.device("meta"):
        empty = models.Mixer()
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x, y = models.mixer_batches(1)[0]
        row, = braid.fit(empty, (x, y), loss="cross_entropy", gpus=1, recompute=("none",))
    assert "shift" in str(caught[0].message) and row["zero"] is None
    print("buffers without values are named")


main()
