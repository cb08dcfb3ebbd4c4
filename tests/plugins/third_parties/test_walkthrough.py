"""docs/plugins.md and docs/plugins/: their code equals the examples, the commands run, and they are complete."""

import re
import shutil
from string import Template

import pytest

from frepo_core.plugins import hookspecs
from frepo_core.testing import (
    StorageContract,
    StrategyContract,
    SubscriberContract,
    UploadCheckContract,
    UploadPolicyContract,
)
from sshd import NOT_INSTALLED, SSHD
from support.servers.service import ROOT

TEMPLATES = ROOT / "frepo_plugin_kit/src/frepo_plugin_kit/templates"
PAGES = [ROOT / "docs/plugins.md", *sorted((ROOT / "docs/plugins").glob("*.md"))]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
BLOCKS = re.findall(r"(?:^<!-- ([^\n]+) -->\n)?^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
TAKEN = [(source, code) for source, language, code in BLOCKS if language not in {"console", "text"}]
COMMANDS = [(place, code) for place, language, code in BLOCKS if language == "console"]
BOOT_ERRORS = (ROOT / "docs/plugins/ship-and-debug.md").read_text("utf-8").partition("## When frepo does not start")[2]
MESSAGES = re.findall(r"^\| (`.+`) \|", BOOT_ERRORS, re.MULTILINE)


def own_fixtures(contract: type) -> set[str]:
    """Return the names of the fixtures that an author may override."""
    return {name for name in dir(contract) if not name.startswith(("_", "test_"))}


def test_code_is_what_the_example_has():
    for source, code in TAKEN:
        assert source.startswith(("examples/", "written by frepo plugin:new ")), "no example is named"
        if source.startswith("examples/"):
            text = (ROOT / source).read_text("utf-8")
        else:
            _, kind, name = source.rsplit(" ", 2)
            text = "".join(path.read_text("utf-8") for path in sorted(TEMPLATES.glob(f"{kind}.*template")))
            words = {"name": name, "path": name, "NAME": name.upper(), "Class": name.capitalize()}
            text = Template(text).safe_substitute(words)

        assert f"\n{code}" in f"\n{text}"


@pytest.mark.costly
@pytest.mark.parametrize(("place", "code"), COMMANDS, ids=[code.splitlines()[0] for _, code in COMMANDS])
def test_commands_run_and_say_what_is_shown(place, code, installed, ini_file, tmp_path, request):
    variables = {"FREPO_INI": str(ini_file)}
    folder = tmp_path / "example"
    if place == "run with sftp":
        if SSHD is None:
            pytest.skip(NOT_INSTALLED)
        variables |= request.getfixturevalue("sshd").environment
        folder.mkdir()
    else:
        shutil.copytree(ROOT / place.removeprefix("run in "), folder, ignore=shutil.ignore_patterns("*.egg-info", ".*"))
    commands = [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ ")]
    shown = [line for line in code.splitlines() if not line.startswith("$ ")]

    said = installed.run("bash", "-ec", "\n".join(commands), cwd=folder, **variables)

    assert [] == [line for line in shown if line not in said]


def test_every_hook_has_its_paragraph():
    for hook in [name for name in dir(hookspecs) if name.startswith("frepo_")]:
        assert f"`{hook}`" in TEXT
        assert f"## `{hook}`\n" in (ROOT / "docs/hooks.md").read_text("utf-8")


def test_every_fixture_of_the_kit_is_explained():
    for contract in [StorageContract, StrategyContract, UploadCheckContract, SubscriberContract, UploadPolicyContract]:
        assert [] == sorted(name for name in own_fixtures(contract) if f"`{name}`" not in TEXT)


@pytest.mark.costly
def test_a_boot_error_says_what_the_page_says():
    for message in MESSAGES:
        sources = "".join(path.read_text("utf-8") for path in (ROOT / "frepo_core/src").rglob("*.py"))

        assert [] == [part for part in re.findall(r"`([^`]+)`", message) if part not in sources]


@pytest.mark.parametrize(
    "example",
    [
        "frepo-storage-sftp",
        "frepo-strategy-keep-daily",
        "frepo-check-clamav",
        "frepo-subscriber-diary",
        "frepo-pages-wallboard",
        "frepo-policy-hours",
        "frepo-job-report",
        "frepo-feed-versions",
    ],
)
def test_an_example_has_less_than_150_lines_of_code(example):
    def is_code(line):
        return line.strip() and not line.lstrip().startswith(("#", '"""'))

    sources = (ROOT / "examples" / example / "src").rglob("*.py")

    assert 150 > sum(1 for path in sources for line in path.read_text("utf-8").splitlines() if is_code(line))
