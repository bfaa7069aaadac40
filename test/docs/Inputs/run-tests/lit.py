"""Writes what lit writes of three tests: one that passes, one that fails, one that is skipped."""
import json
import sys

tests = [("slow", "PASS", 70.0), ("broken", "FAIL", 2.0), ("skipped", "UNSUPPORTED", 0.0)]
with open(sys.argv[sys.argv.index("-o") + 1], "w") as file:
    json.dump({"tests": [{"name": f"braid :: a/{name}.test", "code": code, "output": "what it said", "elapsed": seconds}
                         for name, code, seconds in tests]}, file)
