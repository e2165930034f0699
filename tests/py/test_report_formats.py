"""Reports for machines: JUnit's XML, Markdown, GitHub's annotations; nothing in results gets out of its place."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from junitparser import JUnitXml
from reported import CALLER, CPU, LINE, OLD, RESULTS, merged, result

from tensorledger.protocol.messages import Frame, LiveTensor
from tensorledger.report.compared import changes
from tensorledger.report.github import SHOWN, commands
from tensorledger.report.junit import junit
from tensorledger.report.markdown import code, fenced, markdown
from tensorledger.report.merged import Merged
from tensorledger.results.result import Failure, Result

ODD = [
    "</testcase><failure/>",
    "]]>",
    "<img src=x onerror=alert(1)>",
    "</details></summary>",
    "a | b",
    "`code` ``` more",
    "@octocat fixes #1",
    "two\nlines\r\nof it",
    "::error file=x::no",
    "%0A::error::no",
    "\x00\x07\x1b[31m\ufffe",
    "half \ud800 a character",
    "](javascript:alert(1))",
]
"""Texts that mean something in one of the formats."""


def odd(text: str, number: int = 0) -> Result:
    """Return a broken cell that has a text wherever there is one."""
    frame = Frame(function=text, file=text, line=3, column=1, of="user")
    return result(
        f"{number}{text}",
        verdict="fail",
        reason=f"{number} {text}",
        problems=[text],
        leaks=[LiveTensor(1, [2], "float32", 8, text, True, [frame], False, [text])],
        error=Failure(type=text, message=text, checkpoint=text, stack=[frame]),
        log=text,
    )


# --- JUnit


def test_a_case_for_each_cell_with_its_verdict() -> None:
    document = JUnitXml.fromstring(junit(merged(RESULTS)).encode())
    assert [suite.name for suite in document] == [CPU, OLD, "keras"]
    assert (document.tests, document.failures, document.errors, document.skipped) == (6, 1, 1, 1)
    found = {(case.classname, case.name): case for suite in document for case in suite}
    grows = found["tfjs.4_22_0.cpu", "grows"]
    assert (grows.time, grows.result[0].message) == (12.5, RESULTS[3].reason)
    assert "buffers: expected 0" in grows.result[0].text and "dense/kernel" in grows.result[0].text
    assert (grows._elem.get("file"), grows._elem.get("line")) == (LINE.file, str(LINE.line))
    breaks = found["tfjs.4_22_0.cpu", "breaks"]
    assert breaks.result[0].type == "TypeError" and "for good" not in breaks.result[0].message
    assert found["keras", "clean"].result[0].message == "not installed here"
    deviates = found["tfjs.0_15_3.cpu", "clean"]
    assert deviates.is_passed and "Up to 1.0 a seed stays." in deviates.system_out
    assert found["tfjs.4_22_0.cpu", "leak-one"].is_passed, "a leak on purpose that is caught"


def test_a_suite_says_where_it_ran() -> None:
    (suite, *_) = JUnitXml.fromstring(junit(merged(RESULTS)).encode())
    assert suite.timestamp == "2026-12-01T10:00:00+00:00"
    (first, *_) = ElementTree.fromstring(junit(merged(RESULTS)).encode()).iter("properties")
    found = {found.get("name"): found.get("value") for found in first}
    assert found == {"tensorledger": "0.1.0", "node": "18.4.0"}


def test_of_several_runs_the_worst_is_the_case_and_the_others_are_said() -> None:
    both = merged([result("one")], more=[result("one", verdict="fail", reason="once")])
    (suite,) = JUnitXml.fromstring(junit(both).encode())
    (case,) = suite
    assert not case.is_passed
    assert case.system_out.splitlines() == ["first.json: pass", "second.json: fail"]


def test_the_document_is_xml_whatever_is_in_it() -> None:
    document = ElementTree.fromstring(junit(merged([odd(text, number) for number, text in enumerate(ODD)])).encode())
    cases = list(document.iter("testcase"))
    assert len(cases) == len(ODD)
    assert all([child.tag for child in case] == ["failure"] for case in cases)
    assert [case.get("name", "")[:1] for case in cases] == [str(number)[:1] for number in range(len(ODD))]


# --- Markdown


class Tags(HTMLParser):
    """Collects the tags that a browser would see outside of code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")


def outside_code(text: str) -> str:
    """Return Markdown without its blocks and spans of code, as CommonMark tells them."""
    text = re.sub(r"(?ms)^(`{3,})[^\n`]*\n.*?^\1`*$", "", text)
    return re.sub(r"(?s)(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", "", text)


@pytest.mark.parametrize("text", ODD)
def test_nothing_of_a_result_is_markup(text: str) -> None:
    before = merged([result(f"0{text}")])
    after = merged([odd(text), result("d", verdict="deviates", reason=text), result("s", verdict="skip", reason=text)])
    said = outside_code(markdown(after, [*changes(before, after)]))
    tags = ["details", "summary", "code", "/code", "code", "/code", "/summary", "/details"]
    assert Tags(said).tags == tags
    assert "@octocat" not in re.sub("<code>.*?</code>", "", said) and "javascript" not in re.sub(
        "<code>.*?</code>", "", said
    )
    for line in said.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4), line


@pytest.mark.parametrize("text", [*ODD, "`", "``", "", " ", "a`", "\\|"])
def test_code_is_code_whatever_is_in_it(text: str) -> None:
    assert outside_code(code(text)).strip() == ""
    assert outside_code(fenced(text)).strip() == ""


def test_the_grid_has_every_verdict_and_the_broken_cells_their_reasons() -> None:
    said = markdown(merged(RESULTS))
    assert said.startswith("## tensorledger: 2 of 6 cells not as expected\n")
    assert "! 1 error · ✗ 1 fail · ≠ 1 deviates · ◎ 1 caught · ✓ 1 pass · – 1 skip" in said
    assert f"| scenario | `{CPU}` | `{OLD}` | `keras` |" in said
    assert "| `clean` | ✓ | ≠ | – |" in said and "| `leak-one` | ◎ |  |  |" in said
    assert said.index("breaks") < said.index("grows"), "errors first"
    assert said.count("<details>") == 2
    assert "| `Up to 1.0 a seed stays.` | `clean[tfjs@0.15.3/cpu]` |" in said


def test_what_changed_is_said() -> None:
    before, after = (
        merged([result("one"), result("two")]),
        merged([result("one", verdict="fail", reason="x"), result("two")]),
    )
    assert "| worse | `one[tfjs@4.22.0/cpu]` | `pass → fail` |" in markdown(after, [*changes(before, after)])
    assert "Nothing: every cell is as it was before." in markdown(before, [])
    assert "### What changed" not in markdown(before)


def test_many_targets_are_several_tables() -> None:
    targets = [f"tfjs@1.{minor}.0/{backend}" for minor in range(15) for backend in ("cpu", "wasm")]
    said = markdown(merged([result("one", target) for target in targets]))
    headings = [line for line in said.splitlines() if line.startswith("| scenario")]
    assert [line.count("`tfjs@") for line in headings] == [12, 3, 12, 3]
    assert all(f"`{target}`" in said for target in targets)


def test_what_is_beyond_the_limit_is_cut_between_parts() -> None:
    many = merged([result(f"s{number}", verdict="fail", reason="x" * 100) for number in range(100)])
    whole, cut = markdown(many), markdown(many, limit=5000)
    assert len(cut.encode()) <= 5000 < len(whole.encode())
    *parts, last = cut.rstrip().split("\n\n")
    assert re.fullmatch(r"\*Cut: \d+ more parts, for which there is no room here\.\*", last)
    assert whole.startswith("\n\n".join(parts)) and "Cut:" not in whole


# --- GitHub


def test_an_error_stands_at_the_users_line_once_for_all_targets() -> None:
    leaking = [result("grows", target, "fail", reason="left 3", leaks=RESULTS[3].leaks) for target in (CPU, OLD)]
    (said,) = commands(merged(leaking))
    assert said.startswith(f"::error file={LINE.file},line=3,col=6,title=fail%3A grows on 2 targets::left 3%0A")
    assert f"also: grows[{OLD}]: left 3" in said


def test_a_cell_without_a_line_is_told_without_one_and_errors_come_first() -> None:
    found = [result("a", verdict="fail", reason="no line"), *RESULTS]
    titles = [re.search("title=([^:]*)::", said)[1].replace("%3A", ":") for said in commands(merged(found))]  # type: ignore[index]
    assert titles == [f"error: breaks[{CPU}]", f"fail: a[{CPU}]", f"fail: grows[{CPU}]"]


def test_a_file_in_the_workspace_is_named_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", "/home/me")
    leak = LiveTensor(1, [2], "float32", 8, None, True, [CALLER])
    (said,) = commands(merged([result("x", verdict="fail", reason="left", leaks=[leak])]))
    assert said.startswith("::error file=app.mjs,line=7,title=")


@pytest.mark.parametrize("text", ODD)
def test_a_command_is_one_line_that_nothing_gets_out_of(text: str) -> None:
    (said,) = commands(merged([odd(text)]))
    assert "\n" not in said and "\r" not in said
    head, properties, message = said.split(" ", 1)[0], *said.split(" ", 1)[1].split("::", 1)
    assert head == "::error" and message
    assert [pair.partition("=")[0] for pair in properties.split(",")] == ["file", "line", "col", "title"]


def test_more_errors_than_github_shows_are_counted() -> None:
    found = list(commands(merged([result(f"s{n}", verdict="fail", reason="x") for n in range(SHOWN + 5)])))
    assert Counter(said.split()[0] for said in found) == {"::error": SHOWN, "::notice": 1}
    assert "and 5 more places" in found[-1]


# --- many


@pytest.mark.parametrize(
    "write", [junit, markdown, lambda found: "".join(commands(found))], ids=["junit", "md", "github"]
)
def test_ten_thousand_cells_are_written(write: Callable[[Merged], str]) -> None:
    found = merged(
        [
            result(f"s{row}", f"tfjs@1.{column}.0/cpu", "fail" if (row + column) % 50 == 0 else "pass", reason="x")
            for row in range(100)
            for column in range(100)
        ]
    )
    assert 100 < len(write(found).encode()) < 10**7
