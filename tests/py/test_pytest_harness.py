"""``pytest harness`` as people meet it: what tests are called, what a failure shows, what is refused and how."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from outcomes import CHECKOUT, copy_of_the_checkout, pytest_harness

from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.catalogue import default

TFJS = next(str(target) for target in reversed(default()) if (target.name, target.backend) == ("tfjs", "cpu"))
TWO = ("--target", "tfjs", "--target", "keras", "-k", "create-dispose or leak-prediction", "--cycles", "1")
ONE = ("--target", "tfjs", "-k", "create-dispose or compile-dispose", "--cycles", "1")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copy_of_the_checkout(tmp_path)


def edit(checkout: Path, name: str, change: Callable[[str], str]) -> None:
    path = checkout / "harness" / f"{name}.toml"
    before = path.read_text(encoding="utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, encoding="utf-8")


def forget_deviations(checkout: Path, scenario: str) -> None:
    """Delete a scenario's deviations, which state what they are against and so refuse a changed expectation."""
    (checkout / "harness" / "deviations" / f"{scenario}.toml").unlink()


# --- what there is, and choosing


@pytest.fixture(scope="module")
def collected() -> list[str]:
    run = pytest_harness(CHECKOUT, "--collect-only", "-q")
    assert run.returncode == 0, run.stdout + run.stderr
    return [line for line in run.stdout.splitlines() if "::" in line]


def test_a_test_is_called_by_its_scenario_and_target(collected: list[str]) -> None:
    assert f"harness/expectations/train-dispose.toml::train-dispose[{TFJS}]" in collected
    assert "harness/expectations/train-dispose.toml::train-dispose[keras]" in collected
    assert "harness/expectations/train-dispose.toml::train-dispose[tf-keras]" in collected


def test_every_scenario_is_collected_on_each_default_target_that_it_is_for(collected: list[str]) -> None:
    expectations = CHECKOUT / "harness" / "expectations"
    described = {path.relative_to(expectations).with_suffix("").as_posix() for path in expectations.rglob("*.toml")}
    assert described <= set(all_scenarios())
    there = {scenario.name for scenario in all_scenarios().values() if any(map(scenario.file, default()))}
    assert {re.split(r"::|\[", line)[-2] for line in collected} == there
    assert {line.rpartition("[")[2].rstrip("]") for line in collected} == set(map(str, default()))


def test_a_target_is_chosen_by_its_option() -> None:
    run = pytest_harness(CHECKOUT, "--collect-only", "-q", "--target", "tf-keras")
    targets = {line.rpartition("[")[2] for line in run.stdout.splitlines() if "::" in line}
    assert targets == {"tf-keras]"}


def test_an_unknown_target_is_a_usage_error_that_names_those_there_are() -> None:
    run = pytest_harness(CHECKOUT, "--target", "tfjs@0.0.1")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no target 'tfjs@0.0.1': no release of this version was published; the nearest are 0.6.1" in run.stderr
    assert all(str(target) in run.stderr for target in default())
    assert "Traceback" not in run.stdout + run.stderr


# --- a run in which all is as expected


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["in one process", "with -n 2"])
def test_verdicts_grid_and_results_are_the_same_however_many_processes_run_it(
    checkout: Path, workers: tuple[str, ...]
) -> None:
    run = pytest_harness(checkout, *TWO, *workers, "--results", "results.json")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "4 passed" in run.stdout
    assert "scenarios by targets" in run.stdout
    assert re.search(r"create-dispose +│ +✓ +│ +✓ ", run.stdout)
    assert re.search(r"leak-prediction +│ +◎ +│ +◎ ", run.stdout)
    assert "✓ 2 pass" in run.stdout and "◎ 2 caught" in run.stdout
    found = json.loads((checkout / "results.json").read_text(encoding="utf-8"))
    assert found["schema"] == "tensorledger/results/1"
    assert set(found["environment"]["targets"]) == {TFJS, "keras"}
    assert [(cell["scenario"], cell["target"], cell["verdict"], cell["cycles"]) for cell in found["results"]] == [
        ("create-dispose", TFJS, "pass", 1),
        ("create-dispose", "keras", "pass", 1),
        ("leak-prediction", TFJS, "fail", 1),
        ("leak-prediction", "keras", "fail", 1),
    ]


# --- a run in which something is not


def test_a_failure_shows_expected_beside_measured_at_each_checkpoint(checkout: Path) -> None:
    edit(checkout, "models/classifier", lambda text: text.replace("tensors = 4,", "tensors = 5,", 1))
    run = pytest_harness(checkout, *ONE)
    assert run.returncode == 1
    reason = "created tensors: expected 5 = weights 5 + seeds 0 + counters.model 0 (harness/models/classifier.toml)"
    assert f"fail: harness/expectations/create-dispose.toml: {reason}, measured 4" in run.stdout
    assert f"create-dispose on {TFJS}, last cycle" in run.stdout
    assert re.search(r"checkpoint +┃ +expected +┃ +measured", run.stdout)
    assert re.search(r"created +│ +5 +│ +4 ✗ +│ +814,120 +│ +814,120 ", run.stdout)
    assert re.search(r"released +│ +0 +│ +0 +│ +0 +│ +0 ", run.stdout)
    assert "growth per cycle" in run.stdout
    assert re.search(r"create-dispose +│ +✗", run.stdout)


def test_a_leak_that_is_not_caught_as_its_file_says_fails(checkout: Path) -> None:
    forget_deviations(checkout, "leak-prediction")
    edit(checkout, "expectations/leak-prediction", lambda text: text.replace('tensors = "prediction"', "tensors = 2"))
    run = pytest_harness(checkout, "--target", "tfjs", "-k", "leak-prediction", "--cycles", "1")
    assert run.returncode == 1
    assert "it is caught, but not with what it is to leave: harness/expectations/leak-prediction.toml: " in run.stdout


def test_a_leak_on_purpose_that_breaks_or_is_skipped_is_not_caught(checkout: Path) -> None:
    chosen = ("--target", "tfjs", "-k", "leak-prediction", "--cycles", "1")
    skipped = pytest_harness(checkout, *chosen, "--recipe", "tidy")
    assert "1 skipped" in skipped.stdout and "caught" not in skipped.stdout
    source = "export default async function* () { throw new Error('broken leak'); }\n"
    (checkout / "js/scenarios/leak-prediction.mjs").write_text(source, encoding="utf-8")
    run = pytest_harness(checkout, *chosen, "--results", "results.json")
    assert run.returncode == 1 and "error: Error: broken leak" in run.stdout
    (result,) = json.loads((checkout / "results.json").read_text(encoding="utf-8"))["results"]
    assert (result["verdict"], result["caught"]) == ("error", None)


def test_it_runs_without_pytest_xdist(checkout: Path) -> None:
    run = pytest_harness(checkout, *ONE, "-p", "no:xdist")
    assert run.returncode == 0 and "2 passed" in run.stdout, run.stdout + run.stderr


def test_results_that_cannot_be_written_are_told_after_the_grid(checkout: Path) -> None:
    run = pytest_harness(checkout, *ONE, "--results", "/dev/full")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--results /dev/full: the results could not be written" in run.stdout
    assert "scenarios by targets" in run.stdout and "Traceback" not in run.stdout + run.stderr
    refused = pytest_harness(checkout, *ONE, "--results", "harness")
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR and "this is a folder" in refused.stderr


def test_a_scenario_whose_leak_has_gone_fails(checkout: Path) -> None:
    forget_deviations(checkout, "leak-prediction")
    clean = (checkout / "js/scenarios/predict-dispose.mjs").read_text(encoding="utf-8")
    (checkout / "js/scenarios/leak-prediction.mjs").write_text(clean, encoding="utf-8")
    expected = (checkout / "harness/expectations/predict-dispose.toml").read_text(encoding="utf-8")
    checkpoints = expected.partition("end  ")[0]
    edit(checkout, "expectations/leak-prediction", lambda text: checkpoints + text[text.index("[caught]") :])
    run = pytest_harness(checkout, "--target", "tfjs", "-k", "leak-prediction", "--cycles", "1")
    assert run.returncode == 1
    assert "the leak on purpose was not caught: nothing was left" in run.stdout


def test_an_unknown_key_fails_its_own_scenario_and_the_others_run_on(checkout: Path) -> None:
    edit(checkout, "expectations/create-dispose", lambda text: text.replace("[checkpoints]", "[chekpoints]"))
    run = pytest_harness(checkout, *ONE)
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "harness/expectations/create-dispose.toml: " in run.stdout
    assert "unknown field `chekpoints`" in run.stdout
    assert "Traceback" not in run.stdout


def test_a_checkpoint_that_no_file_states_is_named_with_the_table_it_is_missing_in(checkout: Path) -> None:
    forget_deviations(checkout, "create-dispose")
    edit(checkout, "expectations/create-dispose", lambda text: re.sub(r"created .*\n", "", text))
    run = pytest_harness(checkout, *ONE)
    assert run.returncode == 1
    assert 'fail: harness/expectations/create-dispose.toml: the scenario yields "created"' in run.stdout
    assert '"created", which is not in [checkpoints]' in run.stdout


def test_an_expectation_without_a_scenario_fails(checkout: Path) -> None:
    (checkout / "harness/expectations/no-such-walk.toml").write_text("", encoding="utf-8")
    run = pytest_harness(checkout, "-k", "no-such-walk or create-dispose", "--target", "tfjs", "--cycles", "1")
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "no-such-walk.toml: no scenario of this name in js/scenarios or py/scenarios" in run.stdout


def test_a_run_without_a_judged_cycle_passes_nothing(checkout: Path) -> None:
    run = pytest_harness(checkout, "--target", "tfjs", "-k", "create-dispose", "--cycles", "0")
    assert run.returncode != 0
    assert "passed" not in run.stdout


def test_a_scenario_that_breaks_is_an_error_with_the_message_and_the_others_run_on(checkout: Path) -> None:
    (checkout / "js/scenarios/create-dispose.mjs").write_text(
        "export default async function* () {\n  throw new RangeError('no [bold] model [/x]');\n}\n", encoding="utf-8"
    )
    run = pytest_harness(checkout, *ONE)
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "error: RangeError: no [bold] model [/x]" in run.stdout
    assert re.search(r"create-dispose +│ +!", run.stdout)
