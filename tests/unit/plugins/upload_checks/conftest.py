"""Fixtures: a check of a plug-in that does what the test sets."""

import pytest

from frepo_core.plugins import CheckResult, PluginSettings, SettingsSpec, UploadCheck
from support.own_plugins import acme_plugin, registry_with

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
    acme = acme_plugin(
        "acme-paint",
        upload_checks=[
            UploadCheck(
                name="paint",
                run=painter,
                on_finding=lambda settings: None if settings.on_finding == "no opinion" else settings.on_finding,
                applies_to=("versions", "files"),
            )
        ],
        settings=[SettingsSpec(prefix="acme", model=Settings)],
    )
    return registry_with(acme)


@pytest.fixture
def collection(root):
    return root.create(maxBackupsCount=2).json["collection"]["id"]
