"""A cache that was damaged, in each kind of file that it holds; and an npm that answers garbage."""

from __future__ import annotations

import gzip
import http.server
import io
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from place import Place

from tensorledger.environment.addon import tensorflow
from tensorledger.environment.cache import cache_folder

Damage = Callable[[Path, random.Random], None]


def cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def flip(path: Path, chance: random.Random) -> None:
    held = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 200)):
        held[chance.randrange(len(held))] ^= chance.randrange(1, 256)
    path.write_bytes(held)


def remove(path: Path, chance: random.Random) -> None:
    path.unlink()


def replace(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: list[Damage] = [cut, flip, remove, replace]

KINDS: dict[str, tuple[str, list[str]]] = {
    "models": ("models/**/*", ["run", "load-predict-dispose", "-t", "tfjs", "--cycles", "3"]),
    "releases": ("releases/4.10.0/**/*", ["run", "train-dispose", "-t", "tfjs@4.10.0", "--cycles", "3"]),
    "published": ("published/*.json", ["run", "create-dispose", "-t", "tfjs@>4.21", "--cycles", "3"]),
    "compiled": ("compiled/4.22.0+cpu*", ["atlas", "create-dispose", "-t", "tfjs@4.22.0", "--jobs", "1"]),
    "atlas": ("atlas/**/*", ["atlas", "create-dispose", "-t", "tfjs@4.10.0", "--jobs", "1"]),
    "keras": ("keras/*", ["run", "create-dispose", "-t", "keras", "--cycles", "3"]),
    "addons": ("addons/*.node", ["run", "create-dispose", "-t", "tfjs/node", "--cycles", "3"]),
}
"""By the folder of the cache: the files of that kind, and a command that uses them."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache that has been used in every way, to be copied."""
    cache = tmp_path_factory.mktemp("filled") / "cache"
    cache.mkdir()
    for kept in ("releases/4.10.0", "compiled"):
        if (cache_folder() / kept).is_dir():
            shutil.copytree(cache_folder() / kept, cache / kept, symlinks=True)
    for _, command in KINDS.values():
        subprocess.run(
            [sys.executable, "-m", "tensorledger", *command],
            env={**os.environ, "TENSORLEDGER_CACHE": str(cache)},
            cwd=cache.parent,
            capture_output=True,
            check=False,
        )
    return cache


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_was_damaged(place: Place, chance: random.Random, filled: Path, kind: str) -> None:
    pattern, command = KINDS[kind]
    cache = place.folder / "cache"
    shutil.copytree(filled, cache, symlinks=True)
    files = [path for path in sorted(cache.glob(pattern)) if path.is_file() and path.stat().st_size]
    if not files:
        pytest.skip(f"no file of {pattern} is made here" if kind != "addons" or tensorflow() else "no TensorFlow")
    # Of a release, what Node.js loads; the rest of its 2,000 files is never read.
    files = [
        path for path in files if kind != "releases" or path.name in ("package.json", "tf.node.js", "tf.js")
    ] or files
    if kind == "compiled":
        shutil.rmtree(cache / "atlas", ignore_errors=True)  # what was measured is not measured again
    damaged = chance.choice(files)
    damage = chance.choice(DAMAGES)
    damage(damaged, chance)
    place.environment["TENSORLEDGER_CACHE"] = str(cache)
    ended = place.end(place.start(*command))
    said = f"{damage.__name__} of {damaged.relative_to(cache)}: {ended.output}"
    assert "Traceback" not in ended.output, said
    if ended.status != 0:
        assert ended.status in (1, 2) and "error" in ended.output.lower(), said
        # It says which file, or what to do.
        assert str(cache) in ended.output or damaged.name in ended.output, said


# --- an npm that answers garbage


def tarball(chance: random.Random) -> bytes:
    """Return half a package."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name in ("package.json", "dist/tf.node.js"):
            text = chance.randbytes(50_000)
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    whole = gzip.compress(held.getvalue())
    return whole[: chance.randrange(1, len(whole))]


@contextmanager
def registry(answer: Callable[[http.server.BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def send(to: http.server.BaseHTTPRequestHandler, body: bytes, status: int = 200) -> None:
    to.send_response(status)
    to.send_header("content-type", "application/json")
    to.send_header("content-length", str(len(body)))
    to.end_headers()
    to.wfile.write(body)


def installing(place: Place, url: str) -> None:
    """Run a scenario on a release that is to be fetched from there: it is an error that says so; another goes on."""
    place.environment |= {
        "TENSORLEDGER_CACHE": str(place.folder / "cache"),
        "npm_config_registry": url,
        "npm_config_cache": str(place.folder / "npm"),
    }
    place.write("a.mjs", "export default () => {};")
    ended = place.run("a.mjs", "-t", "tfjs@4.10.0", "-t", "tfjs", "--cycles", "3")
    assert ended.status == 1 and "Traceback" not in ended.output, ended.output
    assert "✓ pass a.mjs[tfjs@4.22.0/cpu]" in ended.output, ended.output
    assert "! error a.mjs[tfjs@4.10.0/cpu]" in ended.output and "4.10.0" in ended.output, ended.output
    releases = place.folder / "cache" / "releases"
    assert [path for path in releases.glob("*") if path.is_dir()] == [], "nothing half is kept"


def test_npm_answers_garbage(place: Place, chance: random.Random) -> None:
    bodies = [b"", b"null", b"[]", b"{}", b"<html>no</html>", chance.randbytes(2000), b'{"versions": 3}', b"{" * 9000]
    body, status = chance.choice(bodies), chance.choice([200, 200, 404, 429, 500])
    with registry(lambda to: send(to, body, status)) as url:
        installing(place, url)


def test_npm_answers_half_a_tarball(place: Place, chance: random.Random) -> None:
    half = tarball(chance)

    def answer(to: http.server.BaseHTTPRequestHandler) -> None:
        if to.path.endswith(".tgz"):
            return send(to, half)
        name = to.path.strip("/").replace("%2f", "/").replace("%2F", "/")
        dist = {"tarball": f"http://{to.headers['host']}/{name}.tgz"}
        versions = {"4.10.0": {"name": name, "version": "4.10.0", "dist": dist}}
        return send(to, json.dumps({"name": name, "dist-tags": {"latest": "4.10.0"}, "versions": versions}).encode())

    with registry(answer) as url:
        installing(place, url)


def test_npm_is_cut_off(place: Place, chance: random.Random) -> None:
    """The connection ends in the middle of an answer, or never has one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        if chance.random() < 0.7:

            def hang_up() -> None:
                while True:
                    try:
                        client, _ = server.accept()
                        client.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{"[: chance.randrange(1, 45)])
                        client.close()
                    except OSError:
                        return

            threading.Thread(target=hang_up, daemon=True).start()
            installing(place, f"http://127.0.0.1:{server.getsockname()[1]}")
        else:
            port = server.getsockname()[1]
            server.close()
            installing(place, f"http://127.0.0.1:{port}")
