"""``tensorledger watch``: what each round of an action leaves on a page that someone else wrote."""

from __future__ import annotations

import importlib.util
import signal
from pathlib import Path
from urllib.parse import urlsplit

import click
from rich.markup import escape
from rich.text import Text

from tensorledger.browser.chromium import DRIVER, ChromiumMissing
from tensorledger.cli.options import json_option, write_json
from tensorledger.cli.streams import complain
from tensorledger.terminal.console import console
from tensorledger.terminal.progress import progress
from tensorledger.terminal.watch import report
from tensorledger.watch.action import EXAMPLE, BadAction
from tensorledger.watch.found import document
from tensorledger.watch.watch import Asked
from tensorledger.watch.watch import watch as _watch

STATUS = {"pass": 0, "fail": 1, "error": 2}


class PageType(click.ParamType[str]):
    """The whole URL of a page."""

    name = "url"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https", "file") or not (parts.netloc or parts.scheme == "file"):
            self.fail(f"{value!r} is no whole URL, such as http://localhost:3000/", param, ctx)
        return value


@click.command()
@click.argument("url", type=PageType(), metavar="URL")
@click.option(
    "--action",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A .py, .mjs or .js file with a function action(page), and setup(page) and back(page) where they are needed.",
)
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1), help="Rounds that are judged.")
@click.option(
    "--warm-up", default=2, show_default=True, type=click.IntRange(min=0), help="Rounds before, which may leave caches."
)
@click.option(
    "--timeout", default=30.0, show_default=True, type=click.FloatRange(min=0.1), help="Seconds for each step."
)
@click.option("--headed", is_flag=True, help="Show the browser's window.")
@json_option
def watch(
    url: str,
    action: Path | None,
    rounds: int,
    warm_up: int,
    timeout: float,
    headed: bool,
    json_file: Path | None,
) -> None:
    """Repeat an action on a page that uses TensorFlow.js, and say how many tensors each round leaves, and which line
    made them.

    The page is opened in a Chromium of its own; no other page is. The file's functions are given Playwright's page:
    setup(page) is called once, then, each round, action(page) and back(page). Frames and workers are watched too.
    Exit status: 0 nothing is left, 1 rounds leave something, 2 usage or environment, or the page could not be judged.
    """
    if action is None:
        raise click.UsageError(f"--action FILE says what is repeated on the page; {EXAMPLE}")
    if importlib.util.find_spec("playwright") is None:
        complain(f"Playwright, which drives the page, is not installed; {DRIVER}")
        raise click.exceptions.Exit(2)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the browser is closed, and its profile removed
    shown = console()
    bar = progress(shown)
    try:
        with bar:
            task = bar.add_task(escape(url), total=None)
            asked = Asked(
                url=url,
                action=action,
                rounds=rounds,
                warm_up=warm_up,
                timeout=timeout,
                headed=headed,
                told=lambda what: bar.update(task, description=f"{escape(url)} [dim]{escape(what)}[/]"),
            )
            found = _watch(asked)
    except (BadAction, ChromiumMissing) as error:
        complain(error)
        raise click.exceptions.Exit(2) from error
    except KeyboardInterrupt:
        shown.print("[yellow]interrupted; the browser is closed[/]")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None
    if json_file is not None:
        write_json(json_file, document(found))
    for part in report(found):
        shown.print(part, soft_wrap=isinstance(part, (Text, str)))
    raise click.exceptions.Exit(STATUS[found.verdict])
