#!/usr/bin/env python3
"""respell.py CONFIG.json PARAMETERS

A config.json whose rotation is said by `rope_parameters` instead of the older settings."""

import json
import sys

OLDER = ("rope_theta", "rope_scaling", "rotary_pct", "rotary_emb_base", "partial_rotary_factor", "rope_local_base_freq")


def main():
    with open(sys.argv[1]) as file:
        config = {key: value for key, value in json.load(file).items() if key not in OLDER}
    json.dump(config | {"rope_parameters": json.loads(sys.argv[2])}, sys.stdout)


if __name__ == "__main__":
    main()
