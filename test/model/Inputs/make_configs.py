#!/usr/bin/env python3
"""Adds to defaults.json what the configurations of a version of Transformers are by default.

    make_configs.py defaults.json

    python3 -m venv venv && venv/bin/pip install transformers==4.57.1 && venv/bin/python make_configs.py defaults.json

By version: for each family what save_pretrained writes, and what every family has besides where a file has all
settings (to_json_string(use_diff=False)).  Tried with 4.42.4, 4.57.1 and 5.24.0; PyTorch is not needed."""

import json
import pathlib
import sys

import transformers

FAMILIES = ("gpt2 llama mistral qwen2 qwen3 mixtral qwen2_moe qwen3_moe gemma2 gemma3_text gpt_neox phi").split()


def main():
    path = pathlib.Path(sys.argv[1])
    versions = json.loads(path.read_text()) if path.exists() else {}
    families, every = {}, {}
    for name in FAMILIES:
        if name not in transformers.CONFIG_MAPPING:
            continue
        config = transformers.CONFIG_MAPPING[name]()
        families[name] = json.loads(config.to_json_string())
        every.update({key: value for key, value in json.loads(config.to_json_string(use_diff=False)).items()
                      if key not in families[name]})
    for saved in families.values():
        every = {key: value for key, value in every.items() if key not in saved}
    versions[transformers.__version__] = {"every": every, "families": families}
    lines = [f"{json.dumps(version)}: {{\n\"every\": {json.dumps(of['every'])},\n\"families\": {{\n" +
             ",\n".join(f"{json.dumps(name)}: {json.dumps(saved)}" for name, saved in of["families"].items()) + "}}"
             for version, of in sorted(versions.items())]
    path.write_text("{\n" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
