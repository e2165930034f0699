"""The README's example of a test that leaks does what the README says, and passes when it is mended as one would."""

from __future__ import annotations

import re

import pytest

from tensorledger.environment.tree import is_checkout, tree

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.skipif(not is_checkout(), reason="the README is in a checkout")


def test_the_example_fails_as_it_says_and_passes_when_it_is_mended(pytester: pytest.Pytester) -> None:
    readme = (tree() / "README.md").read_text(encoding="utf-8")
    found = re.search(
        r"```python\n(# test_scores\.py\n.*?)```\n\n```text\n\$ pytest test_scores\.py\n(.*?)```", readme, re.S
    )
    assert found is not None
    source, said = found.groups()
    file = pytester.path / "test_scores.py"
    file.write_text(source, encoding="utf-8")
    result = pytester.runpytest_subprocess("test_scores.py", timeout=120)
    result.assert_outcomes(failed=1)
    assert said in result.stdout.str()
    file.write_text(source.replace("    HISTORY.append(y)\n", ""), encoding="utf-8")
    pytester.runpytest_subprocess("test_scores.py", timeout=120).assert_outcomes(passed=1)
