# Tests that two ways to compute the same thing agree: a module before and after
# passes, a compiled program and the interpreter, a layout and one rank.
import os

config.braid_suite = "equivalence"
lit_config.load_config(config, os.path.join(config.braid_source, "test", "lit.cfg.py"))
