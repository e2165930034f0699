"""Settings of TensorFlow's memory allocator, each by the environment in which TensorFlow is imported (Python only)."""

from __future__ import annotations

DEFAULT = "default"

ALLOCATORS: dict[str, dict[str, str]] = {
    DEFAULT: {},
    "system": {"TF_ONEDNN_USE_SYSTEM_ALLOCATOR": "1"},
    "allow-growth": {"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
}
"""``system``: every tensor comes from malloc, none from the pool of tensors of 256 KiB and more. ``allow-growth``: what
``gpu_options.allow_growth = True`` says; the stem hands the option itself over too (runtime/stem.py)."""


class UnknownAllocator(ValueError):
    """There is no such setting; the message says which there are."""


def environment(allocator: str) -> dict[str, str | None]:
    """Return what a setting sets, and as None what it must not find set. Raises UnknownAllocator."""
    if allocator not in ALLOCATORS:
        raise UnknownAllocator(f"no setting {allocator!r} of the allocator; there are {', '.join(ALLOCATORS)}")
    names = [name for setting in ALLOCATORS.values() for name in setting]
    return {name: ALLOCATORS[allocator].get(name) for name in names}
