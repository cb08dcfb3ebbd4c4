"""Installs distributions of one module: real entry points and metadata in a folder on the path."""

import sys
from textwrap import dedent

import pytest

from support.own_plugins import open_services, root  # noqa: F401  # fixtures


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution of one module: `install("acme-crate", "crate", source)`."""
    made = []

    def install(distribution, entry, source, version="1.2.3", *, group="frepo", value=None, requires=()):
        folder = tmp_path / distribution
        module = distribution.replace("-", "_")
        metadata = folder / f"{module}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{module}.py").write_text(dedent(source))
        needed = "".join(f"Requires-Dist: {one}\n" for one in requires)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{needed}")
        (metadata / "entry_points.txt").write_text(f"[{group}]\n{entry} = {value or module}\n")
        monkeypatch.syspath_prepend(folder)
        made.append(module)

    yield install
    for module in made:
        sys.modules.pop(module, None)
