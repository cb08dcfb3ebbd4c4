"""Decides who sees the output of jobs, which may name any collection."""

from frepo_core.domain.identity import By, Identity
from frepo_core.domain.permissions import allows

HIDDEN_OUTPUT = "Hidden: the output of jobs is for tokens that may see all collections"
HIDDEN_PROBLEMS = "Hidden: a token that may see all collections is shown which of them have problems"


def sees_output(by: By) -> bool:
    """Return whether the texts of jobs are shown: to tokens that may see all collections, and to `frepo`."""
    return not isinstance(by, Identity) or allows("collection.fetch", by)
