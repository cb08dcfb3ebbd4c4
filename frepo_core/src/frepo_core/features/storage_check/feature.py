"""The check of the storages: what each of them promises and can decode, and what its fire would cost."""

from frepo_core.services.composition.features import Feature

FEATURE = Feature(endpoints=["frepo_core.features.storage_check.endpoints"])
