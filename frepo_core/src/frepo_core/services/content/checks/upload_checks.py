"""Runs the upload checks of plug-ins over content that is not stored yet."""

import contextlib
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from frepo_core.domain.backups.runs import RUN
from frepo_core.domain.backups.verdicts import RESTORE
from frepo_core.domain.structs import struct
from frepo_core.errors import ConfigurationError, UploadCheckError
from frepo_core.plugins import CheckResult, Finding, OnFinding, Outcome, PluginContext, UploadCheck
from frepo_core.plugins.checks.upload_check import Covers, check_deadline, check_on_finding
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import Owned, PluginRegistry
from frepo_core.settings import Settings, environment_name

from ...base.plugin_deadlines import PluginHangs, PluginThreads
from ...base.plugin_failures import (
    PLUGIN_FAILURES,
    as_json,
    describe_failure,
    raise_interrupt,
    storable,
    storable_kinds,
    storable_name,
)
from ..ingest import Content
from .followers import Followers
from .spooled_content import SpooledContent, UploadTarget

log = logging.getLogger(__name__)

ReportOutcome: TypeAlias = Literal["broken", "suspicious"] | Outcome
FAILED = "The check failed, the log of the service knows more"
# Results that the service records itself have these names.
OWN = (RESTORE, RUN)
NO_DETAILS: Mapping[str, Any] = {}
OUTCOMES = ("good", "pending", "not checked")


MAX_PATIENT = 4
SHORT_SECONDS = 1.0


class CheckWaits:
    """Says how long a request may wait for a check, with all checks of a process together."""

    def __init__(self) -> None:
        self._waiting = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def limit(self, seconds: float) -> Iterator[float]:
        """Yield these seconds, or at most one if four requests wait already. The body waits no longer than that."""
        with self._lock:
            is_patient = self._waiting < MAX_PATIENT
            self._waiting += is_patient
        try:
            yield seconds if is_patient else min(seconds, SHORT_SECONDS)
        finally:
            with self._lock:
                self._waiting -= is_patient


@struct
class CheckReport:
    """What a check said about a content. `broken` is a finding; `origin` names the plug-in and its package.

    `quarantines` says that the content of a version has to be put into quarantine. `covers`, `kinds` and `database` are
    as in a `CheckResult`; `has_answered` is false if the check failed or hung.
    """

    check: str
    origin: str
    outcome: ReportOutcome
    message: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    quarantines: bool = False
    kinds: tuple[str, ...] | None = None
    database: str = ""
    has_answered: bool = True
    covers: Covers | None = None


@struct
class _Check:
    """A check that is in use, with its threads, its deadline in seconds, and what follows a finding."""

    spec: UploadCheck
    origin: str
    context: PluginContext
    on_finding: OnFinding
    threads: PluginThreads
    deadline: float


class UploadChecks:
    """The upload checks that are in use. Raises `ConfigurationError` if the settings of one are wrong."""

    def __init__(
        self,
        plugins: PluginRegistry,
        contexts: Mapping[str, PluginContext],
        settings: Settings,
        followers: Followers,
    ) -> None:
        self._followers = followers
        checks = [
            _prepare(owned, contexts[owned.plugin.name], settings.checks_on_broken)
            for owned in plugins.upload_checks.values()
        ]
        self._checks = tuple(check for check in checks if check.on_finding != "off")
        for check in self._checks:
            _check_job(check, plugins)
        self._waits = CheckWaits()

    def names(self) -> Sequence[str]:
        """Return the names of the checks that are in use."""
        return [check.spec.name for check in self._checks]

    def run(self, content: Content, target: UploadTarget) -> tuple[CheckReport, ...]:
        """Run the checks for this kind of content one after the other; return what each said.

        Followers read a version that needs no further check; others when the job reads them.

        Raises `UploadCheckError` if a check found the content broken and its findings are refused.
        """
        kind = "versions" if target.collection else "files"
        checks = [check for check in self._checks if kind in check.spec.applies_to and _is_for(check, content)]
        reports = tuple(_run(check, content, target, self._waits) for check in checks)
        if target.collection and all(report.outcome != "pending" for report in reports):
            self._followers.offer(content)
        return reports


def _name_settings(value: object, plugin: FoundPlugin, context: PluginContext) -> str:
    """Name the settings of the plug-in that have this value, in both spellings: it comes from one of them."""
    found = [name for name, each in context.settings or () if each == value]
    names = [f"{spec.prefix}.{name}" for spec in plugin.settings for name in found]
    return "".join(f"Setting {name} ({environment_name(name)}): " for name in names)


def _prepare(owned: Owned[UploadCheck], context: PluginContext, default: OnFinding) -> _Check:
    origin = f"the check {owned.spec.name!r} ({owned.plugin.origin})"
    if owned.spec.name in OWN:
        text = f"the service records its own results under the names {' and '.join(OWN)}. The package must rename it"
        raise ConfigurationError(f"{origin} cannot be used: {text}")
    value = None
    try:
        value = _chosen(owned.spec.on_finding, context)
        on_finding = default if value is None else check_on_finding(value)
        deadline = check_deadline(value := _chosen(owned.spec.deadline, context))
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        named = _name_settings(value, owned.plugin, context)
        raise ConfigurationError(f"{named}{origin} cannot be used: {describe_failure(error)}") from error
    threads = PluginThreads(f"upload check {owned.spec.name}", deadline)
    return _Check(
        spec=owned.spec, origin=origin, context=context, on_finding=on_finding, threads=threads, deadline=deadline
    )


def _check_job(check: _Check, plugins: PluginRegistry) -> None:
    """Raise `ConfigurationError` if no plug-in has the job that is to check later."""
    if check.spec.job is not None and check.spec.job not in plugins.jobs:
        raise ConfigurationError(f"{check.origin} cannot be used: no plug-in has its job {check.spec.job!r}")


def _chosen(value: object, context: PluginContext) -> object:
    return value(context.settings) if callable(value) else value


def _is_for(check: _Check, content: Content) -> bool:
    return not check.spec.begins or content.head.startswith(check.spec.begins)


def _run(check: _Check, content: Content, target: UploadTarget, waits: CheckWaits) -> CheckReport:
    # Of a file, there is no version that a job could find.
    outcome: ReportOutcome = "pending" if check.spec.job and target.collection else "not checked"
    message, details, quarantines = FAILED, NO_DETAILS, False
    kinds: tuple[str, ...] | None = None
    database, has_answered = "", False
    covers: Covers | None = None
    try:
        with SpooledContent(content, target) as spooled, waits.limit(check.deadline) as seconds:
            result: Any = check.threads.call(partial(check.spec.run, spooled, check.context), seconds=seconds)
        _check_result(result)
        outcome, message, details = result.outcome, result.message, result.details
        kinds, database, has_answered = result.kinds, result.database, True
        covers = result.covers if outcome == "good" else None
    except Finding as finding:
        follows = finding.on_finding or check.on_finding
        if follows == "refuse":
            context = {"check": check.spec.name, "message": storable(str(finding.message))}
            raise UploadCheckError(context=context) from finding
        kinds, has_answered = finding.kinds, True
        outcome, message, details = finding.verdict, finding.message, finding.details
        quarantines = follows == "quarantine"
    except PluginHangs as hangs:
        message = f"The check {hangs}"
        log.error("%s: %s. The content is accepted as %s", check.origin, message, outcome)
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        log.exception("%s failed, the content is accepted as %s", check.origin, outcome)
    return CheckReport(
        check=check.spec.name,
        origin=check.origin,
        outcome=outcome,
        message=storable(str(message)),
        details=as_json(details),
        quarantines=quarantines,
        kinds=storable_kinds(kinds),
        database=storable_name(database),
        has_answered=has_answered,
        covers=covers,
    )


def _check_result(result: object) -> None:
    if not isinstance(result, CheckResult):
        raise TypeError(f"run() returned {result!r}, which is not a CheckResult")
    if result.outcome not in OUTCOMES:
        raise ValueError(f"the outcome {result.outcome!r} is not one of {', '.join(OUTCOMES)}")
    if result.covers not in get_args(Covers):
        raise ValueError(f"covers is {result.covers!r}, write container or content")


def log_findings(subject: str, reports: Sequence[CheckReport]) -> None:
    """Log what the checks found wrong with a content that was accepted."""
    for report in reports:
        if report.outcome in {"broken", "suspicious"}:
            log.warning("%s: %s found: %s", subject, report.origin, report.message)
