"""A planted scenario as a function under psleak: psleak_probe.py FILE SIZE TIMES. Prints whether it says "leak"."""

import json
import sys
import time
import types
from importlib import metadata

import psleak
from plain import load

scenario = load(sys.argv[1])
context = types.SimpleNamespace(params={"size": int(sys.argv[2])})
WARM_UP, TIMES = 10, int(sys.argv[3])
calls = 0


def cycle():
    global calls
    calls += 1
    for _ in scenario(context):
        pass


def says(function, **how):
    try:
        psleak.MemoryLeakTestCase().execute(function, **how)
    except (AssertionError, psleak.MemoryLeakError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return ""


started = time.perf_counter()
said = says(cycle, warmup_times=WARM_UP, times=TIMES)
seconds = time.perf_counter() - started
kept = []
# Who does not find this one does not look.
control = says(lambda: kept.append(bytearray(2**16)), warmup_times=1, times=5)
asked = WARM_UP + (1 if said else TIMES)  # it may be sure after the first
told = {"version": metadata.version("psleak"), "caught": bool(said), "said": said, "seconds": seconds}
print(json.dumps({**told, "control": control, "calls": calls, "asked": asked}))
