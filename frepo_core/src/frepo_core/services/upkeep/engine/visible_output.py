"""Runs of jobs as a token sees them: without the output, if that is not for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from frepo_core.domain.identity import By

from ...access.visibility.job_output import HIDDEN_OUTPUT, sees_output
from .job_runs import RunRecord


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
