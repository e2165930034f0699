"""Spoils files that tensorledger reads, for so many seconds, and tells what was made of them.

``python tests/fuzz/readers.py --seconds 600 --seed 7`` exits with 1 where there was a finding: an error that is not
clear, a wrong result, a crash, a hang, or more memory than a model has. ``--keep FOLDER`` keeps the files.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "py")]

import plants  # noqa: E402
import seeds  # noqa: E402
import spoil  # noqa: E402
from tried import Found, leave_tensorflow_out, tried  # noqa: E402

KINDS = {"keras": 5, "h5": 5, "tfjs": 5, "graph": 1, "results": 4, "saved-model": 1, "inputs": 1}
"""Each kind of file, and how often it comes."""
LIMIT = 20.0
"""Seconds that one file may take."""
MEMORY = 3 * 2**30
"""Bytes of addresses that a process may have: its modules, and more than any of these models."""
LARGEST = 2**28
"""Bytes of a file that may be written."""
BATCH = 400
"""Files that one process reads."""

NOT_SPOILT = "could not be spoilt so"

Line = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--inputs", type=int, default=10**9, help="at most so many")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=sorted(KINDS), help="one kind of file")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input, as a finding has it")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds that one file may take")
    parser.add_argument("--keep", type=Path, help="a folder for the files of findings")
    parser.add_argument("--models", type=Path, help="a folder of .keras and .h5 files to spoil besides")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    parser.add_argument("--plant", choices=sorted(plants.PLANTS), help="a fault in the readers, which is to be found")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tensorledger-fuzz-") as folder:
        return Run(asked, Path(folder)).run()


class Run:
    """One run: what was asked, and what was found so far."""

    def __init__(self, asked: argparse.Namespace, folder: Path) -> None:
        self.asked, self.folder = asked, folder
        self.counts: Counter[tuple[str, str]] = Counter()
        self.findings: dict[str, list[tuple[int, str, str]]] = {}
        models = sorted(asked.models.glob("**/*.*")) if asked.models else []
        self.files = seeds.make(folder / "seeds", models)

    def run(self) -> int:
        started, number = time.monotonic(), self.asked.first
        last = number + self.asked.inputs
        while number < last and time.monotonic() - started < self.asked.seconds:
            left = self.asked.seconds - (time.monotonic() - started)
            number = self._batch(number, min(number + BATCH, last), left)
        self._tell(number - self.asked.first, time.monotonic() - started)
        return 1 if self.findings else 0

    def _batch(self, first: int, last: int, seconds: float) -> int:
        """Have a process of its own try these; return the number of the next."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _confined(lambda: self._try_all(first, last, writing))
        os.close(writing)
        until, at, kind = time.monotonic() + seconds, first, "?"
        stage = "start"
        with os.fdopen(reading, "rb", buffering=0) as lines:
            rest = b""
            while time.monotonic() < until or stage == "trying":
                if not select.select([lines], [], [], self.asked.limit)[0]:
                    self._found(
                        at, kind, Found("a hang" if stage == "trying" else "the fuzzer hung", f"{self.asked.limit} s")
                    )
                    at += 1
                    break
                chunk = lines.read(2**16)
                if not chunk:
                    break
                *whole, rest = (rest + chunk).split(b"\n")
                for line in whole:
                    said = json.loads(line)
                    at, kind, stage = said["number"], said["kind"], said["stage"]
                    if stage == "done":
                        self._done(said)
                        at += 1
            if time.monotonic() >= until and stage != "trying":
                os.kill(child, signal.SIGKILL)  # the time is over, and it would write to nobody
        ended = _ended(child)
        if stage == "trying" and ended < 0:
            name = signal.Signals(-ended).name
            if name != "SIGKILL":
                self._found(at, kind, Found(f"a crash: {name}", f"input {at}"))
                at += 1
        elif ended < 0 and stage == "spoiling":  # HDF5 itself hung, or crashed, as it was told to write such a file
            self.counts[kind, NOT_SPOILT] += 1
            at += 1
        elif ended > 0:
            self._found(at, kind, Found("the fuzzer broke", f"exit status {ended}"))
            at += 1
        shutil.rmtree(self.folder / "tried", ignore_errors=True)
        return at

    def _done(self, said: Line) -> None:
        self.counts[said["kind"], said["came"]] += 1
        for found in said["found"]:
            self._found(said["number"], said["kind"], Found(**found))

    def _found(self, number: int, kind: str, found: Found) -> None:
        key = f"{kind}: {found.kind}"
        self.counts[kind, "FINDING"] += 1
        if key not in self.findings:
            print(f"FOUND by --seed {self.asked.seed} --first {number} --inputs 1: {key}\n{found.said}\n", flush=True)
            self._keep(number, key)
        self.findings.setdefault(key, []).append((number, kind, found.said))

    def _keep(self, number: int, key: str) -> None:
        place = self.folder / "tried" / str(number)
        if self.asked.keep and place.is_dir():
            name = "".join(letter if letter.isalnum() else "-" for letter in key)[:80]
            with suppress(OSError, shutil.Error):
                shutil.copytree(place, self.asked.keep / f"{number}-{name}", symlinks=True, dirs_exist_ok=True)

    def _try_all(self, first: int, last: int, writing: int) -> None:
        def tell(**line: Any) -> None:
            os.write(writing, json.dumps(line).encode() + b"\n")

        leave_tensorflow_out()
        if self.asked.plant:
            plants.PLANTS[self.asked.plant]()
        for number in range(first, last):
            chance = random.Random(f"{self.asked.seed}:{number}")
            kinds = [self.asked.only] if self.asked.only else list(KINDS)
            kind = chance.choices(kinds, [KINDS[kind] for kind in kinds])[0]
            place = self.folder / "tried" / str(number)
            tell(number=number, kind=kind, stage="spoiling")
            file = self._spoilt(kind, place, chance)
            if file is None:
                tell(number=number, kind=kind, stage="done", came=NOT_SPOILT, found=[])
                continue
            tell(number=number, kind=kind, stage="trying")
            came, found = tried(kind, file, chance)
            if found and self.asked.keep:
                for one in found[:1]:
                    self._keep(number, f"{kind}: {one.kind}")
            tell(number=number, kind=kind, stage="done", came=came, found=[vars(one) for one in found])
            shutil.rmtree(place, ignore_errors=True)

    def _spoilt(self, kind: str, place: Path, chance: random.Random) -> Path | None:
        place.mkdir(parents=True)
        (place / "secret.bin").write_text(seeds.SECRET, encoding="utf-8")
        source = chance.choice(self.files[kind])
        file = place / f"spoilt{source.suffix}"
        content = spoil.more(kind, chance) if chance.random() < 0.02 else None
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self.asked.limit / 2)
        try:
            if content is not None:
                file.write_bytes(content)
            else:
                spoil.spoil(source, file, kind, chance)
        except Exception:  # h5py cannot write what it was told to; so it is not tried
            shutil.rmtree(place, ignore_errors=True)
            return None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return file

    def _tell(self, inputs: int, seconds: float) -> None:
        print(f"{inputs:,} inputs in {seconds:.0f} s, seed {self.asked.seed}")
        for kind in KINDS:
            came = {name: count for (of, name), count in sorted(self.counts.items()) if of == kind}
            if came:
                print(f"  {kind}: " + ", ".join(f"{count:,} {name}" for name, count in came.items()))
        number = sum(map(len, self.findings.values()))
        print(f"{number:,} findings of {len(self.findings)} kinds" if number else "no finding")
        for key, found in sorted(self.findings.items()):
            print(f"  {len(found):,} × {key}; --first {', '.join(str(number) for number, *_ in found[:8])}")


def _confined(act: Callable[[], None]) -> None:
    """Do something in this process with little memory, and end it."""
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        act()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


def _ended(child: int) -> int:
    """End a process, where it lives; return its status, or minus the signal that ended it."""
    for _ in range(100):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
