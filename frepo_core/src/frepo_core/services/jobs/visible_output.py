"""Decides what a token sees of the output of jobs, which may name any collection."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from frepo_core.domain.access import allows
from frepo_core.domain.identity import By, Identity

from .job_runs import RunRecord

HIDDEN_OUTPUT = "Hidden: the output of jobs is for tokens that may see all collections"


def sees_output(by: By) -> bool:
    """Return whether the texts that jobs write are shown: to tokens that may see all collections, and to the console."""
    return not isinstance(by, Identity) or allows("collection.fetch", by)


def visible_run(run: RunRecord, by: By) -> RunRecord:
    """Return the run as the token sees it: without the texts that the job wrote, if those are not for it."""
    if sees_output(by):
        return run
    return replace(
        run,
        progress=run.progress and HIDDEN_OUTPUT,
        error=run.error and HIDDEN_OUTPUT,
        summary=None if run.summary is None else _figures(run.summary),
    )


def _figures(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in summary.items() if isinstance(value, int | float)}
