"""What a release says of the place where it is published, and who signs it."""

import contextlib
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from packaging.metadata import Metadata

from support.installation.environments import LEFT_BEHIND
from support.paths import ROOT

REPOSITORY = "https://forge.example.org/team/frepo"
MAINTAINER = "Ada Example <ada@example.org>"
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("frepo_*/README.md"))]


@pytest.fixture
def publication(monkeypatch):
    """The module of the release. It is not installed."""
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("release.publication")


def addresses(text):
    """Return the targets of the links and of the pictures of a page, as a package index shows it."""
    shown = MarkdownIt("commonmark").enable("table").render(text)
    return re.findall(r'href="([^"]*)"', shown), re.findall(r'src="([^"]*)"', shown)


def built(folder, publication, name):
    """Build a wheel of a distribution; return its metadata, checked as a package index does."""
    distributions = importlib.import_module("release.distributions")
    sources_module = importlib.import_module("release.sources")
    source, target = folder / "source", folder / "target"
    shutil.copytree(ROOT / "frepo_metrics", source / "frepo_metrics", symlinks=True, ignore=LEFT_BEHIND)
    for path in sources_module.META:
        shutil.copy(ROOT / path, source)
    target.mkdir()
    sources = sources_module.Sources(folder=source, epoch=1_790_000_000, publication=publication)
    publication.write(source, "v7.0")
    if name == "frepo":
        shutil.rmtree(source / "frepo_metrics")
    distributions.build(sources, source / name if name != "frepo" else source, target)
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (path,) = (each for each in opened.namelist() if each.endswith("/METADATA"))
        return Metadata.from_email(opened.read(path))


@pytest.mark.parametrize("name", ["frepo", "frepo_metrics"])
def test_the_metadata_name_the_repository_and_the_maintainer(publication, tmp_path, name):
    found = built(tmp_path, publication.Publication(repository=REPOSITORY, maintainer=MAINTAINER), name)

    assert {
        "Homepage": REPOSITORY,
        "Documentation": f"{REPOSITORY}/blob/v7.0/docs/index.md",
        "Changelog": f"{REPOSITORY}/blob/v7.0/CHANGES.md",
    } == found.project_urls
    assert MAINTAINER in {found.maintainer_email, f"{found.maintainer} <{found.maintainer_email}>"}
    links, _ = addresses(found.description)
    assert [] == [each for each in links if not each.startswith("https://")]
    assert any(each.startswith(f"{REPOSITORY}/blob/v7.0/docs/") for each in links)


def test_the_debian_package_names_the_same(publication, tmp_path):
    known = publication.Publication(repository=REPOSITORY, maintainer=MAINTAINER)

    for each, fields in {
        known: [f"Maintainer: {MAINTAINER}", f"Homepage: {REPOSITORY}"],
        publication.UNKNOWN: ["Maintainer: the frepo contributors <frepo@packages.invalid>"],
    }.items():
        root = tmp_path / str(len(fields))
        (root / "usr/lib/frepo/lib/python3.11").mkdir(parents=True)
        sources = importlib.import_module("release.sources").Sources(folder=ROOT, epoch=0, publication=each)
        importlib.import_module("release.debian").write_control(sources, root, "amd64")
        control = (root / "DEBIAN/control").read_text()
        assert fields == re.findall(r"(?m)^(?:Maintainer|Homepage): .*$", control)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_links_and_pictures_of_each_page_work_away_from_the_repository(publication, page):
    """Without an address of the repository, a page has neither."""
    known = publication.Publication(repository=REPOSITORY)
    alone = addresses(publication.UNKNOWN.away_from(page.read_text(), page.relative_to(ROOT), "v7.0"))

    assert ([], []) == ([each for each in alone[0] if not each.startswith("https://")], alone[1])
    links, pictures = addresses(known.away_from(page.read_text(), page.relative_to(ROOT), "v7.0"))

    own = [each for each in links if each.startswith(REPOSITORY)]
    assert len(own) == len([each for each in addresses(page.read_text())[0] if not each.startswith("https://")]) > 0
    paths = {each.removeprefix(f"{REPOSITORY}/blob/v7.0/").partition("#")[0] for each in own}
    paths |= {each.removeprefix(f"{REPOSITORY}/raw/v7.0/") for each in pictures}
    assert [] == [path for path in paths if not (ROOT / path).is_file()]
    assert bool(pictures) == (page.parent == ROOT)


def test_code_stays_as_it_is(publication):
    page = "See [`frepo [x]`](docs/a.md#b), `[no](link)` and [that](https://example.org).\n\n```\n[nor](this)\n```\n"
    known = publication.Publication(repository=REPOSITORY)

    assert known.away_from(page, Path("README.md"), "v7.0") == page.replace(
        "docs/a.md#b", f"{REPOSITORY}/blob/v7.0/docs/a.md#b"
    )
    assert publication.UNKNOWN.away_from(page, Path("README.md"), "v7.0") == page.replace(
        "[`frepo [x]`](docs/a.md#b)", "`frepo [x]`"
    )


def release(target, *options, **variables):
    """Build the client alone, of the last commit."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "release", target, "client", *options],
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


@contextlib.contextmanager
def key_ring(address):
    """Yield a folder of gpg with a key that has no passphrase. Its path is short, because it has a socket."""
    with tempfile.TemporaryDirectory(prefix="frepo-gpg-") as folder:
        variables = os.environ | {"GNUPGHOME": folder}
        command = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", address, "ed25519", "sign"]
        subprocess.run(command, env=variables, check=True, capture_output=True)
        try:
            yield folder
        finally:
            subprocess.run(["gpgconf", "--kill", "all"], env=variables, check=True)


def test_the_checksums_are_signed_with_the_key_that_is_given(tmp_path):
    if not shutil.which("gpg"):
        pytest.skip("gpg is not installed: make services")
    with key_ring("Test <test@example.org>") as ring:
        done = release(tmp_path / "target", "--sign-key", "test@example.org", GNUPGHOME=ring)
        verify = ["gpg", "--verify", tmp_path / "target/SHA256SUMS.asc", tmp_path / "target/SHA256SUMS"]
        verified = subprocess.run(
            verify, env=os.environ | {"GNUPGHOME": ring}, capture_output=True, text=True, check=False
        )
        unknown = release(tmp_path / "other", "--sign-key", "nobody@example.org", GNUPGHOME=ring)

    assert (done.returncode, done.stderr) == (0, "")
    assert (verified.returncode, "Good signature from" in verified.stderr) == (0, True), verified.stderr
    assert "not signed" not in done.stdout
    assert (2, False) == (unknown.returncode, (tmp_path / "other").exists())
    assert "'nobody@example.org'; `gpg --list-secret-keys`" in unknown.stderr
    sums = (tmp_path / "target/SHA256SUMS").read_text()
    assert ["frepo-client.pyz"] == [line.split()[1] for line in sums.splitlines()]


def test_a_release_without_an_address_says_why_it_cannot_be_published(tmp_path):
    unknown = release(tmp_path / "one").stdout.partition("This is not fit to be published:")[2]
    known = release(tmp_path / "two", "--repository-url", REPOSITORY, "--maintainer", MAINTAINER).stdout

    for reason in ("REPOSITORY_URL=", "MAINTAINER=", "SIGN_KEY=", "some parts"):
        assert reason in unknown
    assert ("REPOSITORY_URL=" in known, "MAINTAINER=" in known, "SIGN_KEY=" in known) == (False, False, True)


def test_a_wrong_setting_ends_before_anything_is_built(tmp_path):
    for option, value, says in [
        ("--repository-url", "forge.example.org/frepo", "begins with https://"),
        ("--repository-url", f"{REPOSITORY}/", "without a slash at its end"),
        ("--maintainer", "ada@example.org", "NAME <ADDRESS>"),
        ("--maintainer", 'A "B" <ada@example.org>', "NAME <ADDRESS>"),
    ]:
        done = release(tmp_path / "target", option, value)

        assert (2, False) == (done.returncode, (tmp_path / "target").exists())
        assert value in done.stderr
        assert says in done.stderr, option
