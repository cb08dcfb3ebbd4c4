"""Fixtures: the services with one more plug-in."""

import shutil

import pytest

from frepo_core import assemble
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry


@pytest.fixture
def assembled(ini, migrated, tmp_path):
    """Build the services with one more plug-in, or with several."""
    made = []

    def assembled(*offers, ini=ini):
        (tmp_path / "database").mkdir(exist_ok=True)
        database = shutil.copy(migrated, tmp_path / "database")
        found = [
            FoundPlugin(name=f"acme{number or ''}", distribution="acme-paint", version="1.2.3", **offer)
            for number, offer in enumerate(offers)
        ]
        registry = PluginRegistry([*PluginRegistry.from_entry_points().found, *found])
        made.append(assemble(ini | {"database.url": f"sqlite:///{database}"}, {}, registry))
        made[-1].build_all()
        return made[-1]

    yield assembled
    for services in made:
        services.database.engine.dispose()
