"""The archives of wheels: for each Python what it needs, and the same bytes each time."""

import importlib
import io
import os
import re
import tarfile

import pytest

from support.paths import ROOT


@pytest.fixture
def wheelhouse(monkeypatch):
    """The module of the release. It is not installed."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("release.wheelhouse")


def test_each_python_gets_what_its_conditions_say(wheelhouse):
    pinned = (ROOT / "release/pinned.txt").read_text()
    names = {
        python: {line.partition("==")[0] for line in wheelhouse.required(python, "aarch64")}
        for python in wheelhouse.PYTHONS
    }
    everything = set(re.findall(r"(?m)^([\w.-]+)==", pinned))

    assert {"legacy-cgi"} == names["3.13"] - names["3.11"]
    assert everything - {"tzdata", "legacy-cgi"} == names["3.11"] == names["3.12"]
    for line in wheelhouse.required("3.13", "x86_64"):
        assert re.fullmatch(r"\S+==\S+(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n", line)


def test_an_archive_depends_on_the_contents_alone(wheelhouse, tmp_path):
    made = []
    for folder, mode in (("one", 0o600), ("two", 0o664)):
        (tmp_path / folder).mkdir()
        files = [tmp_path / folder / f"{'long' * 30}.whl", tmp_path / folder / "a.whl"]
        for path in files:
            path.write_bytes(b"kept")
            path.chmod(mode)
            os.utime(path, (len(made), len(made)))
        made.append(wheelhouse.packed(files, "frepo-7.0-wheels-amd64", 1_790_000_000))
        files.reverse()

    assert made[0] == made[1]
    with tarfile.open(fileobj=io.BytesIO(made[0])) as archive:
        found = {entry.name: archive.extractfile(entry).read() for entry in archive}
    assert ["frepo-7.0-wheels-amd64/a.whl", f"frepo-7.0-wheels-amd64/{'long' * 30}.whl"] == list(found)
    assert {b"kept"} == set(found.values())
