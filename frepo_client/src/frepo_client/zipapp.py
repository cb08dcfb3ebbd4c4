"""Builds the one file that servers get: `python -m frepo_client.zipapp TARGET`."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Iterator

SHEBANG = b"#!/usr/bin/env python3\n"
_BEGIN_OF_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_SUFFIXES = (".py", "LICENSE")


def build() -> bytes:
    """Return the zipapp. The same sources make the same bytes: no times, no order of a disk, no compression."""
    content = io.BytesIO()
    content.write(SHEBANG)
    with zipfile.ZipFile(content, "a", zipfile.ZIP_STORED) as archive:
        for name, source in sorted(_sources()):
            entry = zipfile.ZipInfo(name, _BEGIN_OF_ZIP_TIME)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, source)
    return content.getvalue()


def _sources() -> Iterator[tuple[str, bytes]]:
    package = os.path.dirname(os.path.abspath(__file__))
    for folder, _, names in os.walk(package):
        for name in names:
            if name.endswith(_SUFFIXES):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    inside = os.path.relpath(path, os.path.dirname(package)).replace(os.sep, "/")
                    yield inside, file.read()
    with open(os.path.join(package, "__main__.py"), "rb") as file:
        yield "__main__.py", file.read()


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as target:
        target.write(build())
    os.chmod(sys.argv[1], 0o755)
