#!/usr/bin/env python3
"""activations_fall.py WHOLE.json (PLAN.json K)...

Checks that the activations of the train program in PLAN.json, compiled with K
microbatches, take 1/K of those in WHOLE.json, but for a tenth."""

import json
import sys


def activations(path):
    with open(path) as file:
        return json.load(file)["by_category"]["activations"]


def main():
    whole = activations(sys.argv[1])
    for path, count in zip(sys.argv[2::2], map(int, sys.argv[3::2])):
        share = activations(path) / whole
        print(f"{count} microbatches: {share:.4f} of the activations")
        if not 0.9 / count <= share <= 1.1 / count:
            sys.exit(f"expected about 1/{count}")


if __name__ == "__main__":
    main()
