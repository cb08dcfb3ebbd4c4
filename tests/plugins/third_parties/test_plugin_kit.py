"""What `frepo plugin:new` writes. tests/plugins/third_parties installs the packages and runs their tests."""

import ast
import os
import tomllib

import pytest
from packaging.requirements import Requirement

from frepo_plugin_kit.kinds import KINDS
from support.console.in_process import InProcessConsole
from support.logs import log_recorder


@pytest.fixture(scope="module")
def in_process(make_quick_engine):
    return InProcessConsole(make_quick_engine)


@pytest.fixture
def write(in_process, tmp_path):
    """Run the command without an ini file; return its exit status and what it says to people."""

    def run(*arguments):
        variables = {"PATH": os.environ["PATH"], **log_recorder.environment()}
        done = in_process.run(["plugin:new", *arguments], env=variables, cwd=tmp_path)
        return done.returncode, done.stderr

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_a_package_with_a_test_in_a_service(write, tmp_path, kind):
    assert (0, "") == write(kind, "red_paint")

    folder = tmp_path / f"frepo-{kind}-red-paint"
    project = tomllib.loads((folder / "pyproject.toml").read_text())
    sources = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in sources.items()}
    fixtures = {one.arg for one in ast.walk(trees["tests/test_red_paint.py"]) if isinstance(one, ast.arg)}
    assert {"red_paint": f"frepo_{kind}_red_paint"} == project["project"]["entry-points"]["frepo"]
    assert f"src/frepo_{kind}_red_paint/__init__.py" in sources
    assert "frepo_service" in fixtures
    assert [] == [path for path in folder.rglob("*.*") if "$name" in path.read_text()]


def test_several_kinds_are_one_package(write, tmp_path):
    assert (0, "") == write("red_paint", "--with", "check,policy,metric,command,job", "--settings")

    folder = tmp_path / "frepo-red-paint"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    entry = (folder / "src/frepo_red_paint/__init__.py").read_text()
    assert {"red_paint": "frepo_red_paint"} == project["entry-points"]["frepo"]
    assert {"red_paint:usage": "frepo_red_paint.command.commands:Usage"} == project["entry-points"]["frepo.commands"]
    assert "class Settings(check.Settings, policy.Settings, metric.Settings, command.Settings, job.Settings):" in entry
    assert 1 == entry.count("def frepo_settings()")


def test_what_cannot_be_one_package_is_refused(write, tmp_path):
    for wrong, reason in (
        (("wal",), "is one of storage"),
        (("job", "wal", "--with", "tables"), "is one of storage"),
        (("wal", "--with", "tables,tapestry"), "'tapestry' is not one of"),
        (("wal", "--with", "storage,layer"), "a storage or a layer"),
        (("wal", "--with", "tables,slot", "--settings"), "--settings: is "),
    ):
        status, said = write(*wrong)
        assert (1, True) == (status, reason in said), said
    assert [] == list(tmp_path.iterdir())


def test_a_kind_without_settings_refuses_the_option(write):
    for kind in ["endpoint", "page"]:
        status, said = write(kind, "red_paint", "--settings")
        assert (1, True) == (status, "  --settings: is " in said)


def test_a_wrong_argument_is_named_as_in_the_usage(write):
    status, said = write("storage", "A-b")

    assert (1, True) == (status, "  <name>: is 'A-b'" in said)


def test_a_new_package_admits_the_next_minor_version(write, tmp_path):
    assert (0, "") == write("policy", "red_paint")

    project = tomllib.loads((tmp_path / "frepo-policy-red-paint/pyproject.toml").read_text())
    [core] = map(Requirement, project["project"]["dependencies"])
    assert [one for one in ("0.1.0", "0.2.0", "0.9.1", "1.0.0") if not core.specifier.contains(one)] == ["1.0.0"]
