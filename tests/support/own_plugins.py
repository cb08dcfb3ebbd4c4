"""Services with the plug-ins that a test makes: import `open_services` and override the fixture `plugins`."""

import shutil

import pytest

from frepo_core import assemble
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from support.client import Client


def acme_plugin(distribution, **offers):
    """Make the plug-in `acme` of a package; keyword arguments are what it offers, such as `strategies`."""
    return FoundPlugin(name="acme", distribution=distribution, version="1.2.3", **offers)


def registry_with(*plugins):
    """Return these plug-ins and the installed ones, but not the upload checks of others."""
    found = PluginRegistry.from_entry_points().found
    if any(plugin.upload_checks for plugin in plugins):
        found = [plugin for plugin in found if not plugin.upload_checks]
    return PluginRegistry([*found, *plugins])


@pytest.fixture
def open_services(migrated, plugins):
    """Assemble services over a copy of an empty database, with the plug-ins of this test."""

    def assembled(folder, ini):
        shutil.copy(migrated, folder / "frepo.db")
        return assemble(ini, {}, plugins)

    return assembled


@pytest.fixture
def root(app, admin):
    return Client(app, admin)
