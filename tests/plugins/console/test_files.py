"""The files of the console: vendored modules as published, their weight, and what the policy forbids."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

import frepo_console
from frepo_console import POLICY
from frepo_core.plugins.subscriber import OLD_KEYS
from support.installation.console import build_console

PAGES = Path(frepo_console.__file__).parent / "pages"
VENDOR = PAGES / "vendor"
VENDORED = json.loads((VENDOR / "vendored.json").read_text())
OWN = [path for path in sorted(PAGES.rglob("*")) if path.is_file() and not path.is_relative_to(VENDOR)]
MODULES = [path for path in OWN if path.suffix == ".js"]
MAX_LINES = 300
KB = 1000


def test_a_vendored_file_is_the_published_one_but_for_its_patches():
    for one in VENDORED:
        content = (VENDOR / one["file"]).read_text()
        for patch in reversed(one.get("patches", [])):
            assert 1 == content.count(patch["new"])
            content = content.replace(patch["new"], patch["old"])

        assert one["sha256"] == hashlib.sha256(content.encode()).hexdigest()
        assert one["version"]
        assert all(patch["reason"] for patch in one.get("patches", []))


def test_each_file_of_the_vendors_folder_is_listed_with_a_licence():
    files = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.is_file()}
    licences = {f"licences/{one['package'].lstrip('@').replace('/', '-')}.txt" for one in VENDORED}

    assert files == {one["file"] for one in VENDORED} | licences | {"vendored.json"}
    assert {"MIT", "Apache-2.0"} == {one["licence"] for one in VENDORED}


def test_the_style_sheet_is_small():
    assert len((PAGES / "console.css").read_bytes()) <= 15 * KB


def test_modules_are_short_and_say_what_they_are_for():
    long = [path.name for path in MODULES if len(path.read_text().splitlines()) > MAX_LINES]
    assert [] == long
    assert [] == [path.name for path in MODULES if not path.read_text().startswith("// ")]


def test_nothing_gets_around_the_escaping():
    for forbidden in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "document.cookie",
        "http://",
    ]:
        allowed = {"index.html"}  # the name of a namespace in its icon

        assert [] == [path.name for path in OWN if forbidden in path.read_text() and path.name not in allowed]


def test_the_index_has_no_inline_script_or_style():
    text = (PAGES / "index.html").read_text()

    assert [] == re.findall(r"<style|style=|\son\w+=|<script(?![^>]*\ssrc=)", text)


def test_what_the_index_loads_exists_and_is_preloaded_once():
    loaded = re.findall(r'(?:href|src)="\{digest\}/([^"]+)"', (PAGES / "index.html").read_text())

    assert [] == [path for path in loaded if not (PAGES / path).is_file()]
    assert len(loaded) == len(set(loaded))
    assert imported_by("main.js") <= set(loaded)


def imported_by(name):
    """Return a module and all that it imports statically, as paths below the pages."""
    found, waiting = set(), [(PAGES / name).resolve()]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            targets = re.findall(r'(?:from|^import)\s*"(\.[^"]+)"', path.read_text(), re.MULTILINE)
            waiting += [(path.parent / target).resolve() for target in targets]
    return {str(path.relative_to(PAGES.resolve())) for path in found}


def test_what_a_module_imports_exists():
    for path in MODULES:
        targets = re.findall(r'(?:from|import)\s*\(?"(\.[^"]+)"', path.read_text())

        assert [] == [target for target in targets if not (path.parent / target).is_file()]


def test_the_first_load_is_light():
    modules = ("main.js", "views/overview.js", "views/overview/details.js")
    chart = {"vendor/uplot.mjs", "vendor/uplot.css"}
    files = set().union(*map(imported_by, modules)) | chart | {"index.html", "console.css"}
    sizes = {name: len(gzip.compress((PAGES / name).read_bytes(), 9)) for name in files}

    assert sum(sizes.values()) < 120 * KB, sizes
    assert len(files) <= 25


def test_the_policy_is_strict():
    directives = dict(directive.split(" ", 1) for directive in POLICY.split("; "))

    assert ("'none'", "'self'", "'self'") == tuple(directives[f"{name}-src"] for name in ("default", "script", "style"))
    assert "unsafe" not in POLICY


@pytest.mark.costly
def test_a_built_package_has_the_texts_compressed(tmp_path):
    built = build_console(tmp_path) / "frepo_console/pages"

    files = {str(path.relative_to(PAGES)) for path in PAGES.rglob("*") if path.is_file()}
    texts = {name for name in files if Path(name).suffix in {".html", ".css", ".js", ".mjs", ".svg"}}
    assert files | {f"{name}.gz" for name in texts} == {
        str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()
    }
    assert (PAGES / "main.js").read_bytes() == gzip.decompress((built / "main.js.gz").read_bytes())


def test_the_page_of_events_hides_the_same_old_keys_as_the_core():
    source = (PAGES / "views/events/describe.js").read_text()
    listed = source.partition("const OLD_KEYS = {")[2].partition("}")[0]

    assert dict(OLD_KEYS) == dict(re.findall(r'(\w+): "(\w+)"', listed))
