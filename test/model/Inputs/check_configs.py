#!/usr/bin/env python3
"""check_configs.py FOLDER: braid-model reads every configuration in defaults.json and published.json.

Of the defaults (make_configs.py), both what save_pretrained writes and a file with all settings, which are one graph."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent / "configs"


def parameters(name, config, failures):
    path = pathlib.Path(sys.argv[1]) / "config.json"
    path.write_text(json.dumps(config))
    done = subprocess.run(["braid-model", path, "--count", "--seq", "16"], capture_output=True, text=True)
    if done.returncode:
        failures.append(f"{name}: {done.stderr.strip()}")
    return done.stdout


def main():
    failures, count = [], 0
    for version, of in json.loads((HERE / "defaults.json").read_text()).items():
        for family, saved in of["families"].items():
            short = parameters(f"{family} of {version}", saved, failures)
            whole = parameters(f"{family} of {version} with all settings", {**of["every"], **saved}, failures)
            if short != whole:
                failures.append(f"{family} of {version}: all settings are another model")
            count += 2
    for name, config in json.loads((HERE / "published.json").read_text()).items():
        parameters(name, config, failures)
        count += 1
    if failures:
        sys.exit("\n".join(failures))
    print(f"{count} configurations")


if __name__ == "__main__":
    main()
