#!/usr/bin/env python3
"""Makes the tables of PyTorch's pipeline schedules, in pipelines/ beside this file.

  venv/bin/python test/goldens/make_pipelines.py

The virtual environment is that of make_goldens.py; tests need neither. A file is what `_dump_csv` writes of a schedule
(torch.distributed.pipelining): a line for each rank, an empty cell for each idle step. Schedules are made without
stages and processes, by the methods that compute the order of a rank.
"""

import csv
import pathlib

import torch.distributed.pipelining.schedules as torch_schedules

FOLDER = pathlib.Path(__file__).resolve().parent / "pipelines"
COMPUTE = ("F", "B", "I", "W", "OVERLAP_F_B")
TABLES = {
    "gpipe": (torch_schedules.ScheduleGPipe, 1, [(1, 2), (3, 2), (4, 6)]),
    "1f1b": (torch_schedules.Schedule1F1B, 1, [(2, 2), (3, 5), (4, 8)]),
    "interleaved": (torch_schedules.ScheduleInterleaved1F1B, 2, [(2, 6), (4, 4), (4, 8)]),
    "interleaved-3": (torch_schedules.ScheduleInterleaved1F1B, 3, [(2, 4), (3, 6)]),
    "zb-h1": (torch_schedules.ScheduleInterleavedZeroBubble, 1, [(2, 3), (4, 8), (5, 6)]),
    "zb-v": (torch_schedules.ScheduleZBVZeroBubble, 2, [(2, 2), (3, 6), (4, 8)]),
    # Braid makes none of these.
    "looped-bfs": (torch_schedules.ScheduleLoopedBFS, 2, [(3, 4)]),
    "interleaved-zero-bubble": (torch_schedules.ScheduleInterleavedZeroBubble, 2, [(3, 6)]),
    "dual-pipe-v": (torch_schedules.ScheduleDualPipeV, 2, [(2, 5)]),
}


def order_of(kind, ranks, microbatches, chunks):
    schedule = object.__new__(kind)
    schedule._num_stages = schedule.num_stages = ranks * chunks
    schedule._n_microbatches = microbatches
    schedule.pp_group_size = ranks
    schedule.n_local_stages, schedule._stages = chunks, [None] * chunks
    schedule.number_of_rounds = max(1, microbatches // ranks)
    schedule.microbatches_per_round = microbatches // schedule.number_of_rounds
    if kind in (torch_schedules.ScheduleGPipe, torch_schedules.Schedule1F1B):
        order = schedule._get_pipeline_order()
    else:
        order = {rank: schedule._calculate_single_rank_operations(rank) for rank in range(ranks)}
    return {rank: [action for action in row if not action or action.computation_type.value in COMPUTE]
            for rank, row in order.items()}


def renumbered(order):
    """Schedule1F1B lists the forwards of the last rank from 1 on, which it runs from 0 on."""
    last = max(order)
    order[last] = [action._replace(microbatch_index=action.microbatch_index - 1)
                   if action and action.computation_type.value == "F" else action for action in order[last]]
    return order


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, (kind, chunks, sizes) in TABLES.items():
        for ranks, microbatches in sizes:
            order = order_of(kind, ranks, microbatches, chunks)
            if kind is torch_schedules.Schedule1F1B:
                order = renumbered(order)
            with open(FOLDER / f"{name}-{ranks}x{microbatches}.csv", "w", newline="") as file:
                csv.writer(file).writerows(order[rank] for rank in range(ranks))


if __name__ == "__main__":
    main()
