"""docs/hooks.md is generated from the hookspecs, and its examples run."""

import ast
import builtins
import importlib.util
import re
from types import FunctionType
from typing import Any, get_args

import pytest

from frepo_core import plugins, tables, testing, web
from frepo_core.cli import FrepoCommand
from frepo_core.domain.permissions import RULES
from frepo_core.plugins import hookspecs
from support.paths import ROOT

HOOKS = {
    name: one for name, one in vars(hookspecs).items() if name.startswith("frepo_") and isinstance(one, FunctionType)
}


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("generate_hooks", ROOT / "docs/generate_hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(generator):
    assert generator.page() == (ROOT / "docs/hooks.md").read_text(), "run .venv/bin/python docs/generate_hooks.py"


def test_a_hook_says_when_where_and_what_a_failure_does():
    fields = {name: re.findall(r"^    :(\w+): \S", hook.__doc__, re.MULTILINE) for name, hook in HOOKS.items()}

    assert HOOKS
    assert [] == [name for name, found in fields.items() if found != ["when", "thread", "transaction", "failure"]]
    assert [] == [name for name, hook in HOOKS.items() if ".. versionadded:: " not in hook.__doc__]


@pytest.mark.parametrize("name", HOOKS)
def test_the_example_of_a_hook_returns_what_it_is_for(name, generator, tmp_path):
    # What an author imports from an own module is defined below.
    code = re.sub(r"^ +from \.\w+ import .*\n", "", generator.example(HOOKS[name]), flags=re.MULTILINE)
    (tmp_path / "pages").mkdir()
    names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    # What an author defines: functions, a model of settings, and classes.
    defined = {"Path": type(tmp_path), "__file__": str(tmp_path / "module.py"), "AcmeSettings": plugins.PluginSettings}
    defined |= {"Options": plugins.StrategyOptions, "QueueLength": lambda service: service, "Base": object}
    missing = dict.fromkeys(names - {*dir(builtins), *defined, *dir(plugins)}, print)
    space = missing | vars(plugins) | defined
    exec(compile(code, f"<{name}>", "exec"), space)

    hook = space[name]
    context = plugins.PluginContext(settings=None, service=object(), log=None)
    answer = hook(*([context] if "context" in hook.__code__.co_varnames[: hook.__code__.co_argcount] else []))

    expected = HOOKS[name].__annotations__["return"]
    (kind,) = get_args(expected) or (expected,)
    offers = answer if get_args(expected) else [answer]
    assert offers
    assert [] == [offer for offer in offers if kind is not Any and not isinstance(offer, kind)]


def test_what_the_packages_export_is_on_the_page(generator):
    described = re.findall(r"^(?:### |\| |- )`(\w+)[`(]", generator.page(), re.MULTILINE)

    assert set() == {*plugins.__all__, *testing.__all__, *web.__all__} - {*described}


def test_a_literal_keeps_its_dots_and_each_method_of_the_service_has_types(generator):
    page = generator.page()

    assert "`Literal['collection.tab', 'collection.card', 'version.action', 'overview.card', 'health.row']`" in page
    assert "- `collection(collection_id: str) -> CollectionInfo | None`: " in page
    assert "<class " not in page


def test_what_the_page_describes_can_be_imported(generator):
    described = set(re.findall(r"^### `(\w+)`", generator.page(), re.MULTILINE)) - {"permission"}

    assert set() == described - {
        *plugins.__all__,
        *testing.__all__,
        *web.__all__,
        *tables.__all__,
        FrepoCommand.__name__,
    }


@pytest.mark.costly
def test_each_rule_for_the_permission_of_an_endpoint_is_on_the_page(generator):
    assert [] == [name for name in RULES if f"`{name}`" not in generator.page()]
