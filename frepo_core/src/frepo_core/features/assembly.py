"""The services with all features. Which features there are stands here, and nowhere else."""

import os
from collections.abc import Mapping

from sqlalchemy import Engine

from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition import assembly
from frepo_core.services.composition.container import Services

from .aliases.feature import ALIASES
from .compact.feature import COMPACT
from .documents.feature import DOCUMENTS
from .enrolment.feature import ENROLMENT
from .inventory.feature import INVENTORY
from .moves.feature import MOVES
from .overview.feature import OVERVIEW
from .preview.feature import PREVIEW
from .recovery.feature import RECOVERY
from .restore_tests.feature import RESTORE_TESTS
from .second_copies.feature import SECOND_COPIES
from .storage_check.feature import STORAGE_CHECK

FEATURES = (
    ALIASES,
    INVENTORY,
    DOCUMENTS,
    ENROLMENT,
    PREVIEW,
    OVERVIEW,
    RESTORE_TESTS,
    STORAGE_CHECK,
    MOVES,
    SECOND_COPIES,
    RECOVERY,
    COMPACT,
)


def assemble(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: PluginRegistry | None = None,
    engine: Engine | None = None,
) -> Services:
    """Load the settings and the plug-ins, as the function of the same name does, and hand over the features."""
    return assembly.assemble(ini, environment, plugins, engine, features=FEATURES)
