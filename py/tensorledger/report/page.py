"""The page: one file of HTML that holds its data, its style and its script, and asks for nothing else."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tensorledger.environment.tree import tree

HERE = Path(__file__).parent


def page(data: dict[str, Any]) -> str:
    """Return the whole page of what ``data.data`` returned. The same data make the same page."""
    script = (tree() / "js" / "report" / "report.js").read_text(encoding="utf-8")
    style = (HERE / "page.css").read_text(encoding="utf-8")
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html.jinja").render(
        version=data["version"],
        files=[file["file"] for file in data["files"]],
        packed=_packed(data),
        style=Markup(style),
        script=Markup(script),
        allowed=_hash(script),
    )


def _packed(data: dict[str, Any]) -> str:
    """Return data as base64, which no markup in them gets out of, of their compressed JSON."""
    plain = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    return b64encode(gzip.compress(plain, mtime=0)).decode()


def _hash(script: str) -> str:
    """Return what a Content-Security-Policy calls a script by: this one runs, and no other."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"
