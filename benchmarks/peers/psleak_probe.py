"""A planted scenario as a function under psleak: psleak_probe.py FILE SIZE TIMES. Prints whether it says "leak"."""

import json
import sys
import time
import types

import psleak
from plain import load

scenario = load(sys.argv[1])
context = types.SimpleNamespace(params={"size": int(sys.argv[2])})


def cycle():
    for _ in scenario(context):
        pass


case = psleak.MemoryLeakTestCase()
started = time.perf_counter()
try:
    case.execute(cycle, warmup_times=10, times=int(sys.argv[3]))
    said = ""
except (AssertionError, psleak.MemoryLeakError) as error:
    said = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
print(json.dumps({"caught": bool(said), "said": said, "seconds": time.perf_counter() - started}))
