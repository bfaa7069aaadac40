#!/usr/bin/env python3
"""Reads tables as PyTorch's pipeline runtime does, and lets PyTorch check them.

  pytorch_takes.py MICROBATCHES TABLE.csv [MESSAGES.csv]

PyTorch validates the table, adds messages of its own, and carries out both tables with messages, its own and
MESSAGES.csv, in its simulator. Prints what it found.
"""

import csv
import sys

import torch.distributed.pipelining.schedules as schedules


def read(path):
    with open(path, newline="") as file:
        return {rank: [schedules._Action.from_str(cell) for cell in row] for rank, row in enumerate(csv.reader(file))}


def main():
    microbatches, table = int(sys.argv[1]), read(sys.argv[2])
    stages = 1 + max(action.stage_index for row in table.values() for action in row if action)
    ranks = schedules._validate_schedule(table, len(table), stages, microbatches)
    cells = {rank: [action for action in row if action] for rank, row in table.items()}
    orders = {"table": schedules._add_send_recv({rank: list(row) for rank, row in cells.items()}, ranks.get, stages)}
    if len(sys.argv) > 3:
        orders["messages"] = read(sys.argv[3])
        for rank, row in orders["messages"].items():
            assert [action for action in row if action.is_compute_op] == cells[rank], f"rank {rank} has other cells"
            assert sorted(map(str, row)) == sorted(map(str, orders["table"][rank])), f"rank {rank} has other messages"
    for name, order in orders.items():
        schedules._simulate_comms_compute(order, ranks.get, stages)
        print(f"{name}: {len(table)} ranks, {stages} stages, {sum(map(len, order.values()))} actions come to an end")


if __name__ == "__main__":
    main()
