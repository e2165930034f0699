"""The tool itself: a comparison that no test looks at is told, and what proves nothing is an error, never a pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mutants import BECOMES, CONFIG, CannotTell, Config, chosen, counted, main, mutants

PLANTED = """\
def is_large(number):
    return number > 10


def is_even(number):
    return number % 2 == 0
"""
WEAK = """\
from planted import is_even, is_large


def test_both():
    assert is_large(11) and not is_large(9)
    assert is_even(2) and not is_even(3)
"""
STRONG = WEAK.replace("not is_large(9)", "not is_large(10) and not is_large(9)")
GROUP = '[[group]]\nmodules = ["py/planted.py"]\ntests = ["tests/test_planted.py"]\n'
LISTED = """
[[equivalent]]
module = "py/planted.py"
line = "return number > 10"
becomes = "return number >= 10"
why = "Nobody has 10."
"""


class Planted:
    """A tree with one module and its test, on which the tool is run."""

    def __init__(self, root: Path, said: Any) -> None:
        self.root, self._said = root, said
        self.write("py/planted.py", PLANTED)
        self.write("tests/test_planted.py", STRONG)
        self.write("mutants.toml", GROUP)

    def write(self, name: str, text: str) -> None:
        file = self.root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run(self, *more: str) -> tuple[int, str, Any]:
        """Return the status, what was printed, and the report."""
        report = self.root / "out.json"
        options = ["--root", str(self.root), "--config", str(self.root / "mutants.toml"), "--json", str(report)]
        before = {file: file.read_bytes() for file in self.root.rglob("*.py")}
        status = main([*options, *more])
        assert {file: file.read_bytes() for file in self.root.rglob("*.py")} == before
        printed = self._said.readouterr()
        found = json.loads(report.read_bytes()) if report.exists() else None
        return status, printed.out + printed.err, found


@pytest.fixture
def planted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Planted:
    return Planted(tmp_path, capsys)


def test_all_mutants_are_killed_where_tests_look_at_both_sides_and_the_boundary(planted: Planted) -> None:
    status, said, report = planted.run()
    assert status == 0 and "0 of 4 mutants survived" in said
    rows = [line.replace("│", " ").split() for line in said.splitlines() if line.startswith("│")]
    assert rows == [["py/planted.py", "2", "0", "4", "4", "0", "0"], ["all", "2", "0", "4", "4", "0", "0"]]
    assert report["modules"] == [
        {
            "module": "py/planted.py",
            "comparisons": 2,
            "connectives": 0,
            "mutants": 4,
            "killed": 4,
            "survived": 0,
            "equivalent": 0,
        }
    ]
    assert {(one["was"], one["becomes"]) for one in report["mutants"]} == {
        (">", ">="), (">", "!="), (">", "<="), ("==", "!=")
    }  # fmt: skip
    assert {one["by"] for one in report["mutants"]} == {"tests/test_planted.py::test_both"}


def test_a_comparison_that_no_test_looks_at_is_told_by_its_line(planted: Planted) -> None:
    planted.write("tests/test_planted.py", WEAK)
    status, said, report = planted.run()
    assert status == 1 and "1 of 4 mutants survived" in said
    assert "py/planted.py:2: no test notices\n  - return number > 10\n  + return number >= 10\n" in said
    (survivor,) = [one for one in report["mutants"] if one["outcome"] == "survived"]
    assert (survivor["line"], survivor["was"], survivor["becomes"], survivor["by"]) == (2, ">", ">=", "")
    assert report["modules"][0]["survived"] == 1


def test_a_mutant_that_never_ends_is_killed(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.write("py/planted.py", "def ended():\n    while 1 == 2:\n        pass\n    return True\n")
    planted.write("tests/test_planted.py", "from planted import ended\n\n\ndef test_it():\n    assert ended()\n")
    monkeypatch.setattr("mutants.LEAST", 1)
    status, _, report = planted.run()
    assert status == 0 and report["mutants"][0]["by"].startswith("to end in ")


def test_one_that_is_listed_as_equivalent_is_no_survivor(planted: Planted) -> None:
    planted.write("tests/test_planted.py", WEAK)
    planted.write("mutants.toml", GROUP + LISTED)
    status, _, report = planted.run()
    assert status == 0
    assert (report["modules"][0]["survived"], report["modules"][0]["equivalent"]) == (0, 1)


def test_the_list_of_equivalents_says_nothing_that_is_not_so(planted: Planted) -> None:
    planted.write("mutants.toml", GROUP + LISTED)
    status, said, _ = planted.run()
    assert status == 1 and "is listed as equivalent, and tests/test_planted.py::test_both notices it" in said
    planted.write("mutants.toml", GROUP + LISTED.replace("> 10", "> 11"))
    status, said, _ = planted.run()
    assert status == 1 and "is listed as equivalent, and 0 mutants are so" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tree: tree.write("tests/test_planted.py", STRONG + "    assert 0\n"), "without any change"),
        (lambda tree: tree.write("tests/test_planted.py", "import nothing_of_the_kind\n"), "without any change"),
        (lambda tree: tree.write("tests/test_planted.py", ""), "ended with 5"),
        (lambda tree: (tree.root / "tests" / "test_planted.py").unlink(), "ended with 4"),
        (
            lambda tree: tree.write(
                "tests/test_planted.py", STRONG + "\n\ndef test_skips():\n    __import__('pytest').skip('so')\n"
            ),
            "are skipped",
        ),
        (lambda tree: tree.write("tests/test_planted.py", "def test_other():\n    pass\n"), "do without py/planted.py"),
        (lambda tree: tree.write("mutants.toml", GROUP + 'only = "nothing"\n'), "ended with 5"),
    ],
    ids=["a test fails", "nothing to import", "no test", "no file", "a test skips", "of something else", "none chosen"],
)
def test_tests_that_prove_nothing_are_an_error(planted: Planted, change: Callable[[Planted], Any], said: str) -> None:
    change(planted)
    status, printed, report = planted.run()
    assert status == 2 and said in printed and report is None and "survived" not in printed


def test_tests_that_fetch_the_module_from_elsewhere_are_an_error(planted: Planted, tmp_path: Path) -> None:
    planted.write("elsewhere/planted.py", PLANTED)
    elsewhere = tmp_path / "elsewhere"
    planted.write("tests/test_planted.py", f"import sys\n\nsys.path.insert(0, {str(elsewhere)!r})\n{STRONG}")
    status, printed, _ = planted.run()
    assert status == 2 and "do without py/planted.py" in printed


def test_a_mutant_of_which_tests_say_nothing_is_an_error(planted: Planted) -> None:
    # A process that is killed, for want of memory say, has found nothing out.
    killed = "    assert is_large(10) is False or __import__('os').kill(__import__('os').getpid(), 9)\n"
    planted.write("tests/test_planted.py", WEAK + killed)
    status, printed, report = planted.run()
    assert status == 2 and "return number >= 10: pytest ended with -9" in printed and report is None


def test_modules_can_be_chosen_by_name_and_only_those_there_are(planted: Planted) -> None:
    assert planted.run("planted")[0] == 0
    status, said, _ = planted.run("another")
    assert status == 2 and "no module is called another; there are planted" in said


# --- what is changed


COMPARISONS = [was for was in BECOMES if was not in ("and", "or", "not")]


@pytest.mark.parametrize("was", [*COMPARISONS, "and", "or"])
def test_each_becomes_what_it_is_to_become_and_nothing_else_changes(was: str) -> None:
    found = mutants("m.py", f"def f(a, b):\n    return a {was} b\n")
    assert [(one.line, one.was, one.becomes) for one in found] == [(2, was, becomes) for becomes in BECOMES[was]]
    for one in found:
        assert one.code == f"def f(a, b):\n    return a {one.becomes} b\n"


@pytest.mark.parametrize("was", COMPARISONS)
def test_a_comparison_becomes_its_negation_and_one_of_order_what_a_boundary_tells_apart(was: str) -> None:
    ordered = {"<": ("<=", "!=", ">="), "<=": ("<", "==", ">"), ">": (">=", "!=", "<="), ">=": (">", "==", "<")}
    negated = {"==": "!=", "is": "is not", "in": "not in"}
    negated |= {other: one for one, other in negated.items()}
    assert BECOMES[was] == ordered.get(was, (negated.get(was),))


def test_only_one_place_is_changed_at_a_time_and_each_has_its_turn() -> None:
    source = "x = [a for a in range(3) if 0 < a <= 2 and a not in (1,)] if y is not None else not z == ' in not and '\n"
    found = mutants("m.py", source)
    assert counted(source) == (5, 2)
    assert [(one.was, one.becomes) for one in found] == [
        ("<", "<="), ("<", "!="), ("<", ">="), ("<=", "<"), ("<=", "=="), ("<=", ">"), ("and", "or"),
        ("not in", "in"), ("is not", "is"), ("not", ""), ("==", "!="),
    ]  # fmt: skip
    for one in found:
        kept = source[: one.column], source[one.column + len(one.was) :]
        assert one.code.split() == f"{kept[0]}{one.becomes}{kept[1]}".split()


def test_what_would_get_no_mutant_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(BECOMES, "not in")
    with pytest.raises(CannotTell, match=r"m\.py: 1 of 2 comparisons and connectives have no mutant"):
        mutants("m.py", "x = 1 in y\nz = 2 not in y\n")


def test_every_rule_of_verdicts_is_among_what_is_changed() -> None:
    config = msgspec.toml.decode(CONFIG.read_bytes(), type=Config)
    root = CONFIG.parents[2]
    named = {module for group in config.group for module in group.modules}
    verdicts = {str(file.relative_to(root)) for file in (root / "py/tensorledger/verdicts").glob("*.py")}
    assert {file for file in verdicts if any(counted((root / file).read_text(encoding="utf-8")))} <= named
    assert chosen(config, ["slope"]).group[0].modules == ["py/tensorledger/verdicts/slope.py"]
