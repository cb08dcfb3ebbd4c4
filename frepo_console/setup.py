"""Compresses the files of the pages when the package is built, next to the plain ones."""

import gzip
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

COMPRESSED = {".html", ".css", ".js", ".mjs", ".svg"}


class BuildWithCompressedPages(build_py):
    """Builds the package, and `<name>.gz` next to each text of the pages."""

    def run(self) -> None:
        """Build. An editable installation serves the files of the source as they are."""
        super().run()
        if self.editable_mode:
            return
        for path in Path(self.build_lib, "frepo_console", "pages").rglob("*"):
            if path.suffix in COMPRESSED:
                Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


setup(cmdclass={"build_py": BuildWithCompressedPages})
