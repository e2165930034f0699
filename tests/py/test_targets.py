"""What people write for targets means what the grammar says, and what is not meant is refused with what there is."""

from __future__ import annotations

import pytest

from tensorledger.environment.releases import BACKENDS as BACKEND_PACKAGES
from tensorledger.environment.releases import published
from tensorledger.targets.catalogue import default, installed, resolve
from tensorledger.targets.target import BACKENDS, BadTarget, Pattern, Target

PINNED = next(target for target in reversed(default()) if (target.name, target.backend) == ("tfjs", "cpu"))


@pytest.mark.parametrize(
    ("text", "name", "version", "backend", "browser"),
    [
        ("tfjs", "tfjs", None, None, False),
        ("tfjs@4.22.0", "tfjs", "4.22.0", None, False),
        ("tfjs/node", "tfjs", None, "node", False),
        ("tfjs@4.22.0/cpu", "tfjs", "4.22.0", "cpu", False),
        ("tfjs@1.7.4/wasm+browser", "tfjs", "1.7.4", "wasm", True),
        ("tfjs@>=0.12.5,<1.0/cpu", "tfjs", ">=0.12.5,<1.0", "cpu", False),
        ("tfjs@*", "tfjs", "*", None, False),
        ("keras", "keras", None, None, False),
        ("tf-keras@2.19.0", "tf-keras", "2.19.0", None, False),
    ],
)
def test_each_part_of_the_grammar_is_read(
    text: str, name: str, version: str | None, backend: str | None, browser: bool
) -> None:
    assert Pattern.parse(text) == Pattern(text, name, version, backend, browser)


@pytest.mark.parametrize("target", default(), ids=str)
def test_a_target_is_found_by_what_it_is_printed_as(target: Target) -> None:
    assert resolve([str(target)]) == [target]
    assert Pattern.parse(str(target)).matches(target)


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (Target("tfjs", "4.22.0", "cpu"), "tfjs@4.22.0/cpu"),
        (Target("tfjs", "4.22.0", "cpu", browser=True), "tfjs@4.22.0/cpu+browser"),
        (Target("tfjs", "4.22.0", "webgl", browser=True), "tfjs@4.22.0/webgl"),
        (Target("tf-keras"), "tf-keras"),
    ],
)
def test_a_target_is_printed_as_people_write_it(target: Target, text: str) -> None:
    assert str(target) == text


def test_languages_follow_from_names() -> None:
    assert {target.name: target.language for target in default()} == {"tfjs": "js", "keras": "py", "tf-keras": "py"}


def test_bare_tfjs_is_the_pinned_release_on_the_cpu() -> None:
    assert resolve(["tfjs"]) == [PINNED]
    assert PINNED.backend == "cpu" and PINNED.version == "4.22.0"


def test_a_version_without_a_backend_means_the_cpu() -> None:
    assert resolve([f"tfjs@{PINNED.version}"]) == [PINNED]


def test_nothing_written_is_the_default_set() -> None:
    assert resolve([]) == resolve(["default"]) == list(default())
    assert {target.name for target in default()} == {"tfjs", "keras", "tf-keras"}


def test_targets_come_once_and_in_the_order_written() -> None:
    assert resolve(["tfjs", "keras", "tfjs"]) == [PINNED, Target("keras")]
    assert resolve(["tf-keras", "default"])[0] == Target("tf-keras")
    assert len(resolve(["tf-keras", "default"])) == len(default())


def test_a_star_means_every_release_that_was_published() -> None:
    every = resolve(["tfjs@*"])
    assert [target.version for target in every] == published()
    assert {target for target in default() if target.name == "tfjs" and target.backend == "cpu"} < set(every)
    assert {target.backend for target in every} == {"cpu"}


def test_a_star_with_a_backend_means_every_release_that_has_it() -> None:
    every = [target.version for target in resolve(["tfjs@*/wasm"])]
    assert every == [version for version in published() if version in published(BACKEND_PACKAGES["wasm"])]
    assert every[-1] == "4.22.0" and "1.2.1" not in every


def test_a_range_means_the_releases_within_it() -> None:
    assert PINNED in resolve(["tfjs@>=4.0,<5"])
    assert PINNED in resolve(["tfjs@>=4.0,<5/cpu"])
    with pytest.raises(BadTarget, match="no target"):
        resolve(["tfjs@<4.22.0,>=4.21.99"])


def test_the_version_of_an_installed_keras_is_checked_against_the_range() -> None:
    version = installed(Target("keras"))
    assert resolve([f"keras@{version}"]) == [Target("keras")]
    assert resolve(["keras@>=3"]) == [Target("keras")]
    with pytest.raises(BadTarget, match=f"keras {version} installed"):
        resolve(["keras@<3"])


def test_an_unknown_name_is_refused_with_the_names() -> None:
    with pytest.raises(BadTarget, match="no target 'pytorch': the names are tfjs, keras, tf-keras"):
        resolve(["pytorch"])


def test_an_unknown_version_is_refused_with_the_targets_there_are() -> None:
    with pytest.raises(BadTarget) as refused:
        resolve(["tfjs@0.0.1"])
    assert "'tfjs@0.0.1'" in str(refused.value)
    for target in default():
        assert str(target) in str(refused.value)


def test_an_unknown_backend_is_refused_with_the_backends() -> None:
    with pytest.raises(BadTarget, match=", ".join(BACKENDS)):
        resolve(["tfjs/cuda"])


def test_a_keras_has_no_backend_to_choose() -> None:
    with pytest.raises(BadTarget, match="the backends of keras are: none"):
        resolve(["keras/cpu"])


@pytest.mark.parametrize("text", ["tfjs@>=1,<<2", "tfjs@latest", "tfjs@1.x", "tfjs@4.22.0.0.bad/cpu", "keras@three"])
def test_a_range_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadTarget, match="is neither a version nor a range"):
        Pattern.parse(text)


@pytest.mark.parametrize("text", ["", "TFJS", "tfjs@", "tfjs/", "tfjs@4.22.0/", "tfjs/cpu+gpu", "tfjs/cpu/node", "@4"])
def test_what_is_not_of_the_grammar_is_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(BadTarget, match="write name"):
        Pattern.parse(text)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("tfjs", ["tfjs@0.12.5/cpu", "tfjs@4.22.0/node"], ["keras"]),
        ("tfjs@*", ["tfjs@0.12.5/cpu", "tfjs@4.22.0/node"], ["tf-keras"]),
        ("tfjs/node", ["tfjs@4.22.0/node"], ["tfjs@4.22.0/cpu"]),
        ("tfjs@4.22.0", ["tfjs@4.22.0/cpu", "tfjs@4.22.0/wasm"], ["tfjs@4.21.0/cpu"]),
        ("tfjs@4.22", ["tfjs@4.22.0/cpu"], ["tfjs@4.22.1/cpu"]),
        ("tfjs@>=0.12.5,<1.0/cpu", ["tfjs@0.12.5/cpu", "tfjs@0.15.3/cpu"], ["tfjs@1.0.0/cpu", "tfjs@0.15.3/node"]),
        ("tfjs@<2", ["tfjs@1.0.0-rc.1/cpu", "tfjs@1.7.4/cpu"], ["tfjs@2.0.0-rc.1/cpu", "tfjs@2.0.0/cpu"]),
        ("keras", ["keras"], ["tf-keras"]),
    ],
)
def test_the_range_of_a_deviation_takes_in_what_it_says_and_no_more(
    text: str, inside: list[str], outside: list[str]
) -> None:
    pattern = Pattern.parse(text)
    assert [str(target) for target in map(_target, inside) if pattern.matches(target)] == inside
    assert not [str(target) for target in map(_target, outside) if pattern.matches(target)]


def test_a_backend_in_the_browser_is_another_than_the_same_outside() -> None:
    outside, inside = Target("tfjs", "4.22.0", "cpu"), Target("tfjs", "4.22.0", "cpu", browser=True)
    assert Pattern.parse("tfjs/cpu").matches(outside) and not Pattern.parse("tfjs/cpu").matches(inside)
    assert Pattern.parse("tfjs/cpu+browser").matches(inside) and not Pattern.parse("tfjs/cpu+browser").matches(outside)


def _target(text: str) -> Target:
    written = Pattern.parse(text)
    return Target(written.name, written.version, written.backend, written.browser)


def test_all_backends_are_the_default_targets_and_every_other_backend() -> None:
    found = resolve(["all-backends"])
    assert tuple(found[: len(default())]) == default()
    places = {str(target).rpartition("/")[2] for target in found if target.name == "tfjs"}
    assert places == {"cpu", "wasm", "node", "webgl", "webgpu", "cpu+browser", "wasm+browser"}
    on_cpu = [target.version for target in found if target.backend == "cpu" and not target.browser]
    assert [target.version for target in found if target.backend == "webgl"] == on_cpu
