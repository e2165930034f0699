"""Where Chromium is, and what it is started with. TENSORLEDGER_CHROMIUM names another one than is found."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

VARIABLE = "TENSORLEDGER_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")

DRIVER = "pip install 'tensorledger[browser]'"
MEND = f"apt-get install chromium, or: python -m playwright install chromium; {VARIABLE} names one that is elsewhere"

FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Rendered by the processor: the same on every machine, and there is a GPU process where there is no GPU.
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    # Without Vulkan for all of it a WebGPU canvas cannot be drawn, which is how TensorFlow.js reads synchronously.
    "--use-vulkan=swiftshader",
    "--enable-features=Vulkan",
    # A page that loses its context must not cost the next one its own.
    "--disable-domain-blocking-for-3d-apis",
    "--disable-gpu-process-crash-limit",
)
"""What Chromium is started with, beside what Playwright gives it."""


class ChromiumMissing(Exception):
    """There is no Chromium to run pages in, or nothing to drive it with; the message says what to do."""


def chromium() -> Path:
    """Return Chromium's executable, once Playwright is there to drive it. Raises ChromiumMissing."""
    if importlib.util.find_spec("playwright") is None:
        raise ChromiumMissing(f"Playwright, which drives Chromium, is not installed; {DRIVER}")
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise ChromiumMissing(f"{VARIABLE} names {named}, which is no program; {MEND}")
        return Path(found)
    for name in NAMES:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    own = _playwrights_own()
    if own is None:
        raise ChromiumMissing(f"Chromium was not found; {MEND}")
    return own


def _playwrights_own() -> Path | None:
    """Return the newest of those that Playwright itself has downloaded; it says where only after a start of its own."""
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ms-playwright"
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or usual)
    patterns = ("chromium-*/chrome-linux*/chrome", "chromium-*/chrome-mac*/*.app/Contents/MacOS/*")
    found = [path for pattern in patterns for path in home.glob(pattern)]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
