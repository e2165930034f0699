"""A suite that has nothing to do with tensors: many quick tests, which is where what each test costs shows most."""

from __future__ import annotations

import pytest


@pytest.fixture
def numbers() -> list[int]:
    return list(range(100))


@pytest.mark.parametrize("size", range(1000))
def test_sums(size: int) -> None:
    assert sum(range(size)) == size * (size - 1) // 2


@pytest.mark.parametrize("step", range(1, 501))
def test_slices(numbers: list[int], step: int) -> None:
    assert numbers[::step][0] == 0


class TestStrings:
    @pytest.mark.parametrize("size", range(500))
    def test_joins(self, size: int) -> None:
        assert len(",".join(map(str, range(size)))) >= size - 1
