"""What gradients that wait for their updates cost: waiting.py LATE.json EARLY.json"""

import json
import sys

late, early = (json.load(open(path))["programs"]["train"] for path in sys.argv[1:])
print("the terms add up:", all(sum(plan["at_peak"].values()) == plan["lower_bound_bytes"] for plan in (late, early)))
fall = late["lower_bound_bytes"] - early["lower_bound_bytes"]
cost = late["waiting_gradients"]["bytes"] - early["waiting_gradients"]["bytes"]
print("the bound falls by what waiting costs:", fall > 0 and fall == cost, fall, cost)
