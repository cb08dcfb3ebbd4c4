"""Hides packages from one that imports what it need not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hidden(*packages: str) -> Iterator[None]:
    """Let an import of these packages fail meanwhile, as if they were not installed; those that are imported stay."""
    missing = {package: None for package in packages if package not in sys.modules}
    sys.modules.update(missing)  # type: ignore[arg-type]  # None: not to be found (importlib's documentation)
    try:
        yield
    finally:
        for package in missing:
            del sys.modules[package]
