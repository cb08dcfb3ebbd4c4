"""A release has the same bytes, whoever builds it and where."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
from packaging.metadata import Metadata

from support.installation.environments import LEFT_BEHIND
from support.paths import ROOT

EPOCH = 1_790_000_000  # seconds since 1970
BUILD = """
import sys
from pathlib import Path
from release import checksums, client, distributions
from release.sources import Sources

sources = Sources(folder=Path(sys.argv[1]), epoch=int(sys.argv[2]))
target = Path(sys.argv[3])
for name in sys.argv[4:]:
    distributions.build(sources, sources.folder / name, target)
client.build(sources, target)
checksums.write(target)
"""


def build(folder, umask, *names):
    """Build distributions and the client from a copy; return the files' checksums."""
    source, target = folder / "source", folder / "target"
    target.mkdir(parents=True)
    for name in {"frepo_client", *names}:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=LEFT_BEHIND, copy_function=shutil.copyfile)
    shutil.copyfile(ROOT / "LICENSE", source / "LICENSE")
    for path in source.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)  # as git has them
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILD, source, str(EPOCH), target, *names],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        umask=umask,
        check=True,
        capture_output=True,
    )
    return (target / "SHA256SUMS").read_text()


@pytest.mark.costly
def test_two_builds_in_two_folders_are_the_same_bytes(tmp_path):
    first = build(tmp_path / "one", 0o022, "frepo_metrics")
    second = build(tmp_path / "two", 0o077, "frepo_metrics")

    assert first == second
    assert [line.split()[1].partition("-")[0] for line in first.splitlines()] == ["frepo", *["frepo_metrics"] * 2]


def test_what_is_installed_and_what_is_built_from_carry_the_licences(tmp_path):
    build(tmp_path, 0o022, "frepo_client")

    (wheel,) = (tmp_path / "target").glob("*.whl")
    (archive,) = (tmp_path / "target").glob("*.tar.gz")
    ours = (ROOT / "LICENSE").read_bytes()
    theirs = "src/frepo_client/third_party/tomli/LICENSE"
    with zipfile.ZipFile(wheel) as opened:
        (info,) = {name.partition("/")[0] for name in opened.namelist() if ".dist-info/" in name}
        described = Metadata.from_email(opened.read(f"{info}/METADATA"))  # strict, as a package index is
        carried = [opened.read(f"{info}/licenses/{name}") for name in ("LICENSE", theirs)]
    with tarfile.open(archive) as opened:
        root = archive.name.removesuffix(".tar.gz")
        shipped = [opened.extractfile(f"{root}/{name}").read() for name in ("LICENSE", theirs)]
    assert [ours, (ROOT / "frepo_client" / theirs).read_bytes()] == carried == shipped
    assert (["LICENSE", theirs], "MIT") == (described.license_files, described.license_expression)
    assert ("the frepo contributors", "text/markdown") == (described.author, described.description_content_type)


def test_a_part_that_does_not_exist_is_named(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "release", tmp_path / "target", "rpm"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "rpm is not a part of a release; its parts are wheels, client, debian, sbom, archives" in done.stderr
    assert not (tmp_path / "target").exists()
