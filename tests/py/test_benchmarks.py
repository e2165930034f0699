"""The benchmarks' page is what was measured; a peer that does nothing is told from one that finds nothing."""

from __future__ import annotations

import json
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest
from click import ClickException

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment.tree import is_checkout, tree

pytestmark = pytest.mark.skipif(not is_checkout(), reason="the benchmarks are in a checkout")
sys.path.insert(0, str(tree() / "benchmarks"))

import conversion  # noqa: E402
import detection  # noqa: E402
import documents  # noqa: E402
import findings  # noqa: E402
import peer_answers  # noqa: E402
import run  # noqa: E402
import watch  # noqa: E402
from documents import Document, Entry  # noqa: E402
from findings import Aim, Findings, Table  # noqa: E402
from machine import newer_node  # noqa: E402
from peer_answers import NoAnswer  # noqa: E402
from spread import each, exponent, spread  # noqa: E402
from turns import in_turn  # noqa: E402

# --- the page


def test_the_committed_page_is_what_the_data_make() -> None:
    assert documents.PAGE.read_text(encoding="utf-8") == documents.page(documents.read())
    assert run.check() == 0


def test_the_committed_data_are_as_they_are_written_and_of_every_benchmark() -> None:
    document = documents.read()
    assert documents.DATA.read_text(encoding="utf-8") == documents.text_of(document)
    assert document.schema == documents.SCHEMA
    assert [entry.name for entry in document.entries] == [benchmark.name for benchmark in run.BENCHMARKS]


def test_all_budgets_fit_into_the_time_for_all() -> None:
    assert sum(benchmark.seconds for benchmark in run.BENCHMARKS) + run.GRACE <= 60 * run.MINUTES


def test_the_page_says_what_is_not_met_what_broke_and_what_has_no_answer() -> None:
    aims = [
        Aim("slow", 1.1, spread([1.3, 1.2, 1.4])),
        Aim("quick", 10, spread([12.0]), at_least=True),
        Aim("near", 1.1, spread([1.0, 1.05, 1.2]), twin=spread([1.0, 1.0, 1.0])),
        Aim("busy", 1.1, spread([1.0]), twin=spread([0.9, 1.3, 1.4])),
    ]
    found = Findings([Table("a table", ["tool", "caught"], [["a|b", "no answer"]])], aims, ["psleak: no answer"])
    entries = [
        Entry("one", "Says.", "today", 1, (0, 0), "", found),
        Entry("two", "Says.", "today", 1, (0, 0), "not at its end"),
    ]
    page = documents.page(Document(documents.SCHEMA, {"cores": "2"}, entries))
    rows = {line.split(" | ")[1]: line for line in page.splitlines() if line.startswith("| [one]")}
    assert rows["slow"].endswith("| 3 | **not met** |") and rows["quick"].endswith("| 1 | met |")
    assert rows["near"].endswith("met, within the noise |") and rows["busy"].endswith("met, within the noise |")
    for said in (
        "3 of 4 met",
        "a\\|b | no answer",
        "**Not measured**: psleak: no answer",
        "**It broke**: not at its end",
    ):
        assert said in page
    assert [entry.whole for entry in entries] == [False, False]


# --- the runner


def _benchmark(folder: Path, name: str, lines: str) -> run.Benchmark:
    file = folder / f"{name}.py"
    file.write_text('"""Says."""\nimport sys, time\n' + textwrap.dedent(lines), encoding="utf-8")
    return run.Benchmark(str(file), 60)


def test_one_that_breaks_becomes_an_entry_that_says_so(tmp_path: Path) -> None:
    written = findings.Findings([], wrong=["a peer did not answer"])
    findings.write(tmp_path / "found.json", written)
    copies = f"import shutil; shutil.copyfile({str(tmp_path / 'found.json')!r}, sys.argv[-1])\n"
    answered = run.measure(_benchmark(tmp_path, "answered", f"{copies}sys.exit(1)"), 60)
    assert (answered.name, answered.says, answered.broke, answered.findings) == ("answered", "Says.", "", written)
    assert not answered.whole
    broke = run.measure(_benchmark(tmp_path, "broke", "sys.exit(3)"), 60)
    assert "status 3" in broke.broke and broke.findings is None
    half = run.measure(_benchmark(tmp_path, "half", f"{copies}sys.exit(3)"), 60)
    assert "status 3" in half.broke and half.findings == written
    slow = run.measure(_benchmark(tmp_path, "slow", "time.sleep(60)"), 0.5)
    assert "not at its end after" in slow.broke and slow.seconds < 30


def test_some_may_be_measured_again_on_the_same_machine_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(documents, "DATA", tmp_path / "none.json")
    monkeypatch.setattr(run, "DATA", tmp_path / "data.json")
    assert run.earlier({"cores": "2"}).entries == []
    document = Document(documents.SCHEMA, {"cores": "2"}, [])
    documents.write(document, tmp_path / "data.json", tmp_path / "page.md")
    monkeypatch.setattr(documents, "read", lambda: document)
    assert run.earlier({"cores": "2"}) == document
    with pytest.raises(ClickException, match="another machine"):
        run.earlier({"cores": "64"})
    old, new = (Entry("growth", "Says.", when, 1, (0, 0)) for when in ("before", "now"))
    assert document.having(old, ["growth"]).having(new, ["growth"]).entries == [new]


# --- peers that do nothing, and that find nothing

PSLEAK = """
class MemoryLeakError(AssertionError): pass
class MemoryLeakTestCase:
    def execute(self, function, **how): {does}
"""
MEMRAY = """
def pytest_addoption(parser): parser.addoption("--memray", action="store_true")
def pytest_configure(config): config.addinivalue_line("markers", "limit_leaks(limit): does nothing")
"""


def _answers(folder: Path) -> dict[str, detection.Run]:
    kind = next(kind for kind in detection.KINDS if kind.file == "heap.py")
    return {one.tool.partition(" ")[0]: one for one in detection.peer_runs(sys.executable, kind, 65536, str(folder))}


def test_peers_that_do_nothing_have_no_answer(tmp_path: Path) -> None:
    pytest.importorskip("psleak")
    pytest.importorskip("pytest_memray")
    (tmp_path / "psleak.py").write_text(PSLEAK.format(does="pass"), encoding="utf-8")
    (tmp_path / "pytest_memray").mkdir()
    (tmp_path / "pytest_memray" / "__init__.py").touch()
    (tmp_path / "pytest_memray" / "plugin.py").write_text(MEMRAY, encoding="utf-8")
    answers = _answers(tmp_path)
    assert {tool: one.verdict for tool, one in answers.items()} == {"psleak": "error", "pytest-memray": "error"}
    assert "did not find the control" in answers["psleak"].reason and "control" in answers["pytest-memray"].reason
    found = detection.findings(list(answers.values()), [], [])
    assert len(found.wrong) == 2 and [row[4] for row in found.tables[0].rows] == ["no answer", "no answer"]


def test_a_peer_that_complains_of_all_without_looking_has_no_answer(tmp_path: Path) -> None:
    pytest.importorskip("psleak")
    (tmp_path / "psleak.py").write_text(PSLEAK.format(does="raise MemoryLeakError('all leak')"), encoding="utf-8")
    one = _answers(tmp_path)["psleak"]
    assert one.verdict == "error" and "called the scenario 0 times" in one.reason


def test_peers_that_are_here_answer(tmp_path: Path) -> None:
    pytest.importorskip("psleak")
    pytest.importorskip("pytest_memray")
    kind = next(kind for kind in detection.KINDS if kind.file == "native.py")
    answers = {one.tool.partition(" ")[0]: one for one in detection.peer_runs(sys.executable, kind, 0)}
    assert {tool: one.verdict for tool, one in answers.items()} == {"psleak": "pass", "pytest-memray": "pass"}
    assert all(len(one.tool.split()) == 2 for one in answers.values()), "each says its version"


@pytest.mark.parametrize(("tool", "script"), [("memlab", "@memlab/cli/bin/memlab.js"), ("fuite", "fuite/src/cli.js")])
def test_a_peer_of_watch_that_does_nothing_has_no_answer(tmp_path: Path, tool: str, script: str) -> None:
    try:
        chromium()
    except ChromiumMissing as error:
        pytest.skip(str(error))
    if newer_node() is None:
        pytest.skip("there is no Node.js for memlab and fuite")
    modules = tmp_path / "node_modules"
    for name in (script, f"{tool}/package.json"):
        (modules / name).parent.mkdir(parents=True, exist_ok=True)
    (modules / script).write_text("", encoding="utf-8")
    (modules / tool / "package.json").write_text('{"version": "1.2.3"}', encoding="utf-8")
    one = watch.run(tool, "react-leaks", "http://localhost/", tmp_path, tmp_path, [1])
    assert one.answer is None and f"{tool} came to no answer on react-leaks, exit status 0" in one.problem
    (row,) = watch.table([one]).rows
    assert "no answer" in row and row[-1] == "1 of 1" and watch.aims([one]) == []


def test_what_memlab_and_fuite_say_is_read() -> None:
    steps = "page-load[5MB](baseline)[s1] > action-on-page[6MB](target)[s2] > revert[6MB](final)[s3]\n"
    assert not peer_answers.memlab(f"{steps}No leaks found", "2").leaks
    found = peer_answers.memlab(f"{steps}MemLab found 2 leak(s)\n[Detached HTMLDivElement]", "2")
    assert found.leaks and found.said == "2 leaks: Detached HTMLDivElement"
    with pytest.raises(NoAnswer):
        peer_answers.memlab("No leaks found", "2")  # of a page that it never opened
    leaks = {"detected": True, "objects": [{"name": "Dh", "retainedSizeDeltaPerIteration": 301}]}
    result = {"leaks": leaks, "numIterations": 7, "deltaPerIteration": 73077}
    said = peer_answers.fuite(json.dumps([{"result": result}]), "5")
    assert said.leaks and said.said == "73077 bytes a round; Dh +301 B"
    for broken in ([], [{"result": {"failed": True}}], [{"result": {**result, "numIterations": 0}}]):
        with pytest.raises(NoAnswer):
            peer_answers.fuite(json.dumps(broken), "5")


def test_a_converter_that_does_nothing_or_less_is_no_peer(tmp_path: Path) -> None:
    own, official = tmp_path / "own", tmp_path / "official"
    for folder in (own, official):
        folder.mkdir()
    (own / "model.json").write_text('{"convertedBy": "tensorledger"}', encoding="utf-8")
    (own / "group1-shard1of1.bin").write_bytes(b"1234")
    assert "no answer" in conversion.wrote(official, own)[1]
    (official / "model.json").write_text('{"convertedBy": "TensorFlow.js Converter v4.22.0"}', encoding="utf-8")
    assert "no answer" in conversion.wrote(official, own)[1]
    (official / "group1-shard1of1.bin").write_bytes(b"1235")
    assert conversion.wrote(official, own) == ("TensorFlow.js Converter v4.22.0", "the two wrote different weights")
    (official / "group1-shard1of1.bin").write_bytes(b"1234")
    assert conversion.wrote(official, own) == ("TensorFlow.js Converter v4.22.0", "")


def test_pytest_memray_has_to_report_something() -> None:
    assert peer_answers.memray_measured("Allocation results for a::b at the high watermark\n") == 1
    with pytest.raises(NoAnswer):
        peer_answers.memray_measured("2 passed in 1.00s")


# --- figures


def test_a_spread_and_a_power_are_what_they_are_called() -> None:
    assert spread([4.0]) == spread([4.0]) and spread([4.0]).low == 4.0
    found = spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.median, found.low, found.high, found.runs) == (3.0, 2.0, 4.0, 5)
    for power in (1, 2):
        costs = {n: 7 + 3.0 * n**power for n in (10, 100, 1000, 10_000)}
        assert exponent(costs) == pytest.approx(power)
    assert each({10: 1.0, 100: 2.0, 1000: 911.0}) == pytest.approx(1.01)
    assert exponent({10: 1.0, 100: 1.0, 1000: 1.0}) is None


def test_turns_take_turns() -> None:
    done: list[str] = []

    def do(name: str) -> int:
        done.append(name)
        return len(done)

    found = in_turn({name: partial(do, name) for name in "abc"}, 3, warm_up=1)
    assert "".join(done) == "cababcbcacab"
    assert found["a"] == [4, 9, 11]


def test_the_bound_on_a_rate_is_clopper_and_pearsons() -> None:
    assert detection.upper_bound(0, 20) == pytest.approx(1 - 0.05 ** (1 / 20))
    assert detection.upper_bound(1, 20) == pytest.approx(0.2161, abs=1e-4)
    assert detection.upper_bound(3, 3) == 1.0
