"""The operators' documents match the code: every setting, role and error number, and no others."""

import ast
import re
import tomllib
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from frepo_core import errors
from frepo_core.cli import FrepoCommand
from frepo_core.db.models import Base
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.roles import Role
from frepo_core.plugins import FileMode
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings, environment_name
from frepo_core.web.routing.error_views import STATUS
from support.paths import ROOT

DOCS = ROOT / "docs"
SOURCE = "\n".join(path.read_text() for path in sorted(ROOT.glob("frepo_*/src/**/*.py")))
REGISTRY = PluginRegistry.from_entry_points()
BACKENDS = {name: spec.settings for name, spec in REGISTRY.storages.items()}
PLUGIN_SETTINGS = {prefix: owned.spec.model for prefix, owned in REGISTRY.settings.items()}


def rows(document, first_cell):
    """Return the cells of the table rows whose first cell matches."""
    lines = (DOCS / document).read_text().splitlines()
    tables = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]
    return [row for row in tables if re.fullmatch(first_cell, row[0])]


def kind(field):
    """Return the type of a setting as one word; for a choice, all its values."""
    parts = get_args(field.annotation) if get_origin(field.annotation) is not Literal else ()
    annotation = next((one for one in parts if one is not NoneType), field.annotation)
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(annotation))
    if "Size" in repr(field.metadata) or "_size" in repr(field.metadata):
        return "size"
    if "tuple" in repr(field.annotation):
        return "commands" if re.search("_lines|_commands", repr(field.metadata)) else "list"
    if "_duration" in repr(field.metadata):
        return "duration"
    names = {
        SecretStr: "secret",
        bool: "yes or no",
        int: "number",
        float: "number",
        str: "text",
        Path: "path",
        FileMode: "octal mode",
    }
    return names[annotation]


def default(field):
    """Format a default as in an ini file."""
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value in ("", ()):
        return "–"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def expected_rows(model, prefix=""):
    names = {prefix + (field.alias or name): field for name, field in model.model_fields.items()}
    return [
        [f"`{name}`", f"`{environment_name(name)}`", kind(field), default(field), field.description]
        for name, field in names.items()
    ]


def test_every_setting_of_the_service_has_its_row():
    others = "|".join([r"fs\.\w+", *PLUGIN_SETTINGS])
    rows_of_the_core = rows("settings.md", rf"`(?!(?:{others})\.)[a-z_.]+`")

    assert sorted(expected_rows(Settings)) == sorted(rows_of_the_core)


def test_every_setting_of_a_plugin_and_of_a_storage_has_its_row():
    models = PLUGIN_SETTINGS | {f"fs.{adapter}": model for adapter, model in BACKENDS.items()}
    expected = {prefix: expected_rows(model, f"{prefix}.") for prefix, model in models.items()}

    assert expected == {prefix: rows("settings.md", rf"`{re.escape(prefix)}\.\w+`") for prefix in models}


def test_no_other_storage_has_rows():
    documented = {row[0].split(".")[1] for row in rows("settings.md", r"`fs\.\w+\.\w+`")}

    assert BACKENDS.keys() == documented


def test_every_setting_has_a_help_text():
    models = [Settings, *BACKENDS.values(), *PLUGIN_SETTINGS.values()]

    assert [] == [row[0] for model in models for row in expected_rows(model) if not row[4]]


def test_the_ini_files_set_only_what_is_documented():
    files = [ROOT / name for name in ("development.ini", "production.ini")]
    sections = [path.read_text().partition("[app:main]")[2].partition("\n[")[0] for path in files]
    names = re.findall(r"^(?:# )?([a-z_]+\.[a-z0-9_.]+) = ", "\n".join(sections), re.MULTILINE)

    assert set() == set(names) - {row[0].strip("`") for row in rows("settings.md", r"`[a-z0-9_.]+`")}


def test_every_role_has_its_row():
    expected = [[f"`{role.value}`", role.description] for role in Role]

    assert sorted(expected) == sorted(row[:2] for row in rows("roles.md", r"`[a-z_.]+`"))


def test_every_kind_of_event_has_its_row():
    expected = [
        [f"`{kind}`", kind.description, ", ".join(f"`{key}`" for key in kind.keys) or "–"] for kind in EventKind
    ]

    assert sorted(expected) == sorted(rows("events.md", r"`[a-z]+\.[a-z_]+`"))


def error_classes():
    found, left = [], [errors.FrepoError]
    while left:
        one = left.pop()
        found.append(one)
        left += one.__subclasses__()
    return [one for one in found if one.__module__.startswith("frepo_core.errors.")]


STATUSES = {one: next((STATUS[base] for base in one.__mro__ if base in STATUS), 500) for one in error_classes()}
NUMBERS = {(str(one.number), str(status)) for one, status in STATUSES.items() if "number" in vars(one)}
RULES = [(str(one.number), one.text) for one in errors.CollectionRuleError.__subclasses__()]


def test_every_rule_has_a_class_of_its_own():
    assert [] == re.findall(r"(?<!class )\bRuleError\(", SOURCE)


def test_every_error_number_has_its_row_with_its_status():
    by_http_itself = {(number, number) for number in ("405", "412", "416")}

    assert NUMBERS | by_http_itself == {(row[0], row[1]) for row in rows("errors.md", r"\d+")}


def test_no_error_number_has_two_rows():
    numbers = [row[0] for row in rows("errors.md", r"\d+")]

    assert len(numbers) == len(set(numbers))


def test_the_text_of_every_rule_is_in_its_row():
    meanings = {row[0]: row[2] for row in rows("errors.md", r"\d+")}

    assert RULES
    assert [] == [rule for rule in RULES if f"`{rule[1]}`" not in meanings[rule[0]]]


def test_every_error_has_a_remedy():
    assert [] == [row for row in rows("errors.md", r"\d+") if len(row) != 4 or not all(row)]


def test_every_refusal_has_a_status():
    raised = [one for one in error_classes() if "number" in vars(one) and one is not errors.FrepoError]

    assert [] == [one.__name__ for one in raised if not STATUS.keys() & set(one.__mro__)]


def reliability():
    """Return both pages about reliability."""
    return "\n".join((DOCS / name).read_text() for name in ("reliability.md", "reliability-tests.md"))


def test_every_test_that_the_reliability_document_names_is_there():
    text = reliability()
    named = set(re.findall(r"`(test_\w+)` in `(tests/[\w/]+\.py)`", text))
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}

    assert [] == [(name, path) for name, path in named if f"def {name}(" not in (ROOT / path).read_text()]
    assert set() == {Path(path).name for path in re.findall(r"`(?:tests/\w+/)?(test_\w+\.py)`", text)} - files
    assert len(named) > 20


def test_what_fails_for_a_broken_promise_is_in_the_short_form():
    named = re.findall(r"`(test_\w+)` in `(tests/[\w/]+\.py)`", reliability())
    for name, path in named:
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            marks = node.decorator_list if getattr(node, "name", "") == name else []
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
                marks = [node.value]

            assert not any("costly" in ast.unparse(mark) for mark in marks), name


def test_each_dependency_has_its_reason():
    projects = [tomllib.loads(path.read_text())["project"] for path in ROOT.glob("frepo_*/pyproject.toml")]
    groups = [[each["dependencies"], *each.get("optional-dependencies", {}).values()] for each in projects]
    needed = {re.match(r"[\w.-]+", one)[0] for one in chain(*chain(*groups))}
    named = {name for row in rows("dependencies.md", "`.*") for name in re.findall(r"`([^`]+)`", row[0])}

    assert set() == needed - {"frepo-core", "frepo-client"} - named


def test_the_methods_of_commands_that_the_page_of_commands_names_exist():
    named = set(re.findall(r"^- `self\.(\w+)\(", (DOCS / "plugins/command.md").read_text(), re.MULTILINE))

    assert len(named) >= 3
    assert set() == {name for name in named if not callable(getattr(FrepoCommand, name, None))}


def test_the_tests_that_the_promises_of_the_client_name_exist():
    named = set(re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py)`", (ROOT / "docs/client-promises.md").read_text()))

    paths = [ROOT / (name if "/" in name else f"tests/client/{name}") for name in named]
    assert paths
    assert [] == [path for path in paths if not path.exists()]


def test_the_table_of_what_grows_names_each_table_of_the_database():
    text = (DOCS / "capacity.md").read_text().partition("## What grows")[2].partition("\n## ")[0]
    named = {
        name for line in text.splitlines() if line.startswith("| ") for name in re.findall("`(\\w+)`", cells(line)[1])
    }

    assert set(Base.metadata.tables) == named
    assert [] == [line for line in text.splitlines() if line.startswith("| ") and len(cells(line)) != 5]


# What is looked up, not read: lists of all that there is, and figures.
REFERENCES = {
    *("commands.md", "errors.md", "hooks.md", "performance.md", "performance-figures.md", "reliability-tests.md"),
    "settings.md",
}
LONGEST = 3000  # words


def test_no_page_that_explains_is_long():
    lengths = {path.name: len(path.read_text().split()) for path in DOCS.rglob("*.md") if path.name not in REFERENCES}

    assert {} == {name: words for name, words in lengths.items() if words > LONGEST}
    assert len((ROOT / "README.md").read_text().split()) <= 450


def cells(line):
    """Return the cells of a row of a table."""
    return [cell.strip() for cell in line.strip("|").split(" | ")]
