"""Recovery: a lost database is made again from the storages, and what a restored one lacks is read back.

The journal, which a recovery reads, is the nucleus' own: it is written whatever is loaded.
"""

from frepo_core.services.composition.features import Feature

from .services import RecoveryServices

RECOVERY = Feature(services=RecoveryServices)
