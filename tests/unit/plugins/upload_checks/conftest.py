"""Fixtures: a check of a plug-in that does what the test sets."""

import shutil

import pytest

from frepo_core.plugins import CheckResult, PluginSettings, SettingsSpec, UploadCheck
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition.assembly import assemble
from support.client import Client

GOOD = CheckResult(outcome="good")


class Settings(PluginSettings):
    on_finding: str = "mark"


class Painter:
    """Runs what the test sets, and remembers what it saw."""

    def __init__(self):
        self.act = lambda content, context: GOOD
        self.seen = []

    def __call__(self, content, context):
        with content.open() as file:
            self.seen.append((content.file_name, content.mime_type, content.size, content.sha256, file.read()))
        return self.act(content, context)


@pytest.fixture
def painter():
    return Painter()


@pytest.fixture
def plugins(painter):
    acme = FoundPlugin(
        name="acme",
        distribution="acme-paint",
        version="1.2.3",
        upload_checks=[
            UploadCheck(
                name="paint",
                run=painter,
                on_finding=lambda settings: settings.on_finding,
                applies_to=("versions", "files"),
            )
        ],
        settings=[SettingsSpec(prefix="acme", model=Settings)],
    )
    others = [plugin for plugin in PluginRegistry.from_entry_points().found if not plugin.upload_checks]
    return PluginRegistry([*others, acme])


@pytest.fixture
def open_services(migrated, plugins):
    def assembled(folder, ini):
        shutil.copy(migrated, folder / "frepo.db")
        return assemble(ini, {}, plugins)

    return assembled


@pytest.fixture
def root(app, admin):
    return Client(app, admin)


@pytest.fixture
def collection(root):
    return root.create(maxBackupsCount=2).json["collection"]["id"]
