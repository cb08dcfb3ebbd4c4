"""The site of the documentation has every page, and loads nothing from other sites."""

import importlib.util
import json
import re
import shutil
import subprocess
import tomllib

import pytest

from support.paths import ROOT

GENERATOR = ROOT / ".venv-docs/bin/zensical"
IS_INSTALLED = (ROOT / ".venv-docs/installed").exists()  # written last
CONFIGURATION = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def program(name):
    """Load a program of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stage():
    return program("stage")


@pytest.fixture(scope="module")
def versions():
    return program("versions")


@pytest.fixture
def staged(stage, tmp_path):
    stage.stage(tmp_path / "build/docs")
    return tmp_path / "build/docs"


def in_navigation(entries):
    """Return all pages of a possibly nested navigation."""
    found = []
    for entry in entries:
        for target in entry.values():
            found += [target] if isinstance(target, str) else in_navigation(target)
    return found


def test_every_page_is_in_the_navigation(staged):
    pages = [path.relative_to(staged).as_posix() for path in staged.rglob("*.md")]

    assert sorted(pages) == sorted(in_navigation(CONFIGURATION["nav"]))


def test_the_site_has_the_documents_outside_docs(staged):
    assert (staged / "overview.md").read_text(encoding="utf-8").startswith("# frepo\n")
    assert (staged / "CHANGES.md").read_text(encoding="utf-8").startswith("# Changes\n")
    assert (staged / "CONTRIBUTING.md").read_text(encoding="utf-8").startswith("# Contributing\n")
    assert "](overview.md#a-nightly-dump-in-three-lines)" in (staged / "index.md").read_text(encoding="utf-8")


def test_a_link_in_code_is_not_changed(stage, tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("`[a](nowhere.md)`\n\n```\n[a](nowhere.md)\n```\n")

    assert (page.read_text(encoding="utf-8"), []) == stage.adapt(page)


def test_a_link_to_nothing_is_an_error(stage, tmp_path, monkeypatch):
    monkeypatch.setattr(stage, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("[a](nowhere.md)")

    with pytest.raises(SystemExit, match=r"page\.md links to nowhere\.md"):
        stage.adapt(page)


def test_a_version_is_added_to_the_site_next_to_the_others(versions, tmp_path):
    site = tmp_path / "site"
    (site / "images").mkdir(parents=True)
    for number, text in [("0.9.0", "old"), ("0.10.0", "faulty"), ("0.10.1", "corrected"), ("0.2.3", "older")]:
        pages = tmp_path / "pages"
        pages.mkdir()
        (pages / "index.html").write_text(text)
        versions.add(pages, site, number)

    listed = json.loads((site / "versions.json").read_text())
    assert ["0.10", "0.9", "0.2"] == [one["version"] for one in listed]
    assert [["latest"], [], []] == [one["aliases"] for one in listed]
    assert ["corrected", "old", "older"] == [(site / one["version"] / "index.html").read_text() for one in listed]
    assert 'url=0.10/"' in (site / "index.html").read_text()
    for former, target in versions.FORMER.items():
        assert f'url={target}"' in (site / "0.10" / former).read_text()
        assert not (ROOT / "docs" / former.replace(".html", ".md")).exists()
        assert (ROOT / "docs" / target.replace(".html", ".md")).exists()


def test_the_number_of_the_version_is_that_of_the_distributions(versions):
    core = tomllib.loads((ROOT / "frepo_core/pyproject.toml").read_text())

    assert core["project"]["version"] == versions.own_number()


def build(folder):
    """Build the site from a staged copy in the folder."""
    shutil.copy(ROOT / "zensical.toml", folder)
    command = [GENERATOR, "build", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


needs_generator = pytest.mark.skipif(not IS_INSTALLED, reason="make docs installs the generator first")


@needs_generator
def test_pages_load_nothing_from_other_sites(staged, tmp_path):
    done = build(tmp_path)

    pages = list((tmp_path / "build/pages").rglob("*.html"))
    loaded = [
        f"{page.name}: {tag}"
        for page in pages
        for tag in re.findall(
            r"<(?:script|img|iframe|link|source)\b[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>",
            page.read_text(encoding="utf-8"),
        )
        if 'rel="canonical"' not in tag
    ]
    assert 0 == done.returncode, done.stderr
    assert len(pages) > 10
    assert [] == loaded
    assert [] == [
        page.name for page in pages if 'class="mermaid"' in page.read_text(encoding="utf-8")
    ]  # its script is on a CDN
    assert (tmp_path / "build/pages/search.json").exists()


@needs_generator
def test_a_broken_link_fails_the_build(staged, tmp_path):
    with (staged / "index.md").open("a") as page:
        page.write("\n[page](nowhere.md) [part](settings.md#nowhere)\n")

    done = build(tmp_path)

    assert 0 != done.returncode
    assert "page does not exist" in done.stdout + done.stderr
    assert "anchor does not exist" in done.stdout + done.stderr


@needs_generator
def test_the_generator_that_is_installed_is_the_one_that_make_names():
    done = subprocess.run([GENERATOR, "--version"], capture_output=True, text=True, check=True)

    assert re.search(r"zensical==([\w.]+)", (ROOT / "Makefile").read_text(encoding="utf-8"))[1] in done.stdout
