"""What adding a version has changed, as events and log lines tell it."""

import logging
from collections.abc import Mapping, Sequence

from frepo_core.domain.backups.guards import Objection
from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.identity import Identity, describe_actor
from frepo_core.domain.structs import struct
from frepo_core.error_explanations import explain
from frepo_core.plugins.registry import PluginRegistry

from ...access.single_upload_tokens import log_consumed_token
from ...base.change_log import describe_file
from ...base.records import CollectionRecord, VersionRecord
from ...content.checks.upload_checks import CheckReport
from ...events.facts import version_event
from ...events.recording import NewEvent
from ..rotation.strategy_options import options_problem
from ..rows.quarantine import OVERTAKEN
from ..rows.removal import Removed, TrashReason, eviction_events
from .version_checks import NewCheck

log = logging.getLogger(__name__)


@struct
class AddedVersion:
    """The version that was added, and its collection after the commit."""

    version: VersionRecord
    collection: CollectionRecord


@struct
class Committed:
    """What the write transaction changed.

    `objection` says why the version is suspicious, and `removed` what became of the evicted versions.
    `why` is the reason why they left. `nights` is what the event about a version in quarantine says about earlier ones.
    `change` is how the format differs from that of the versions before.
    """

    added: AddedVersion
    is_quarantined: bool
    objection: Objection | None
    evicted: Sequence[VersionRecord]
    removed: Removed
    why: TrashReason
    nights: Mapping[str, object]
    change: str = ""


def addition_events(committed: Committed, by: Identity) -> list[NewEvent]:
    """Return the events about the new version and about the evicted ones."""
    version, objection = committed.added.version, committed.objection
    why = {} if committed.why is TrashReason.EVICTED else {"reason": committed.why.value}
    evicted = eviction_events(committed.evicted, committed.removed, by=by, replaced_by=version.number, **why)
    reason = {"reason": objection.reason, "message": objection.error.explanation} if objection else {}
    if version.quarantine_reason == OVERTAKEN:
        reason = {"reason": OVERTAKEN, "message": explain(OVERTAKEN)}
    if committed.is_quarantined:
        told = {**reason, **committed.nights, "verdict": version.verdict.value}
        return [*evicted, version_event(EventKind.VERSION_QUARANTINED, version, by=by, **told)]
    events = [*evicted, version_event(EventKind.VERSION_ADDED, version, by=by)]
    if committed.change:
        events.append(version_event(EventKind.VERSION_KIND_CHANGED, version, by=by, message=committed.change))
    if objection is not None:
        events.append(version_event(EventKind.VERSION_SUSPICIOUS, version, by=by, **reason))
    return events


def log_addition(committed: Committed, by: Identity, plugins: PluginRegistry) -> None:
    """Log the new version, the evicted ones, and which options of the strategy do not fit."""
    version = committed.added.version
    what = describe_file(version.file)
    done = "put into quarantine" if committed.is_quarantined else "added"
    collection = committed.added.collection
    problem = options_problem(plugins, collection.id, collection.strategy, collection.strategy_options)
    if problem:
        what = f"{what}. {problem}. Until they are edited, the defaults apply"
    log.log(
        logging.WARNING if problem else logging.INFO,
        "collection %s: version %s %s by %s: %s",
        version.collection_id,
        version.number,
        done,
        describe_actor(by),
        what,
    )
    for old in committed.evicted:
        log.info(
            "collection %s: version %s was removed for version %s", version.collection_id, old.number, version.number
        )
    if by.ends_with_upload:
        log_consumed_token(by)


def check_of(report: CheckReport) -> NewCheck:
    """Return the result of an upload check as it is recorded."""
    return NewCheck(
        name=report.check,
        outcome=report.outcome,
        message=report.message,
        details=report.details,
        covers=report.covers,
    )
