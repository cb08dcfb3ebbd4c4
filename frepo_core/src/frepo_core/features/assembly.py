"""The services with all features. Which features there are stands here, and nowhere else."""

import os
from collections.abc import Mapping
from importlib import import_module

from sqlalchemy import Engine

from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition import assembly
from frepo_core.services.composition.container import Services

# The order is that of their endpoints: where two paths match, that of the first one counts.
NAMES = (
    "aliases",
    "inventory",
    "documents",
    "enrolment",
    "preview",
    "overview",
    "restore_tests",
    "storage_check",
    "moves",
    "second_copies",
    "recovery",
    "compact",
)
FEATURES = tuple(import_module(f"{__package__}.{name}.feature").FEATURE for name in NAMES)


def assemble(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: PluginRegistry | None = None,
    engine: Engine | None = None,
) -> Services:
    """Load the settings and the plug-ins, as the function of the same name does, and hand over the features."""
    return assembly.assemble(ini, environment, plugins, engine, features=FEATURES)
