"""What `frepo plugin:new` writes. tests/plugins/third_parties installs the packages and runs their tests."""

import ast
import tomllib

import pytest
from packaging.requirements import Requirement

from frepo_core.cli.commands.plugins.new_plugin import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_a_package_with_a_test_in_a_service(console, kind):
    console.answer("plugin:new", kind, "red_paint")

    folder = console.folder / f"frepo-{kind}-red-paint"
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    sources = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    fixtures = {one.arg for one in ast.walk(trees["tests/test_red_paint.py"]) if isinstance(one, ast.arg)}
    assert {"red_paint": f"frepo_{kind}_red_paint"} == project["project"]["entry-points"]["frepo"]
    assert f"src/frepo_{kind}_red_paint/__init__.py" in sources
    assert "frepo_service" in fixtures
    assert [] == [path for path in folder.rglob("*.*") if "$name" in path.read_text()]


def test_a_kind_without_settings_refuses_the_option(console):
    for kind in ["endpoint", "page"]:
        assert "  --settings: is " in console.refusal("plugin:new", kind, "red_paint", "--settings")


def test_a_new_package_admits_the_next_minor_version(console):
    console.answer("plugin:new", "policy", "red_paint")

    project = tomllib.loads((console.folder / "frepo-policy-red-paint/pyproject.toml").read_text())
    [core] = map(Requirement, project["project"]["dependencies"])
    assert [one for one in ("0.1.0", "0.2.0", "0.9.1", "1.0.0") if not core.specifier.contains(one)] == ["1.0.0"]
