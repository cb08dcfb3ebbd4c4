"""The summary: what happened since the last one, for all targets that take text."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from frepo_core.plugins import Event, EventCount, ExpectedBackups, JobContext, Message, Service

from .delivery import name_of
from .errors import NotDelivered
from .settings import NotifySettings
from .targets import PROBLEMS, Target
from .text_sending import send_message
from .texts import KIND_CHANGED, count_of, describe, is_problem, most_serious_first, without_repetitions

NAME = "notify_summary"
# The period of the first summary, and the longest, after a pause.
FIRST, LONGEST = timedelta(days=1), timedelta(days=31)
READ, LISTED = 1000, 20
# What is wrong with backups that have arrived; those that have not are named as missing, and problems by the health.
NOT_WELL = ("damaged", "failed", "full", "suspicious")


def send_summary(
    context: JobContext, send: Callable[[Target, Message, Service], None] = send_message
) -> Mapping[str, Any]:
    """Send the summary to each target, and raise `NotDelivered` at the end if one did not accept it."""
    settings: NotifySettings = context.settings
    message = make_summary(
        context.service, settings.sender_name, since=_since(context), now=context.now, name_of=name_of(context)
    )
    targets = [target for target in settings.all_targets if target.gets_summary and not target.is_webhook]
    problems = {target.name: problem for target in targets if (problem := _try(target, message, context.service))}
    if problems:
        raise NotDelivered("; ".join(f"target {name!r}: {problem}" for name, problem in problems.items()))
    return {"sent_to": [target.name for target in targets], "title": message.title}


def make_summary(
    service: Service, sender: str, *, since: datetime, now: datetime, name_of: Callable[[Event], str]
) -> Message:
    """Return the summary of a period; times are in UTC."""
    counts = service.count_events(since=since)
    found = service.events(since=since, kinds=(*PROBLEMS, "version.checked"), limit=READ)
    problems = [event for event in found if event.kind != "version.checked" or is_problem(event)]
    events = without_repetitions(problems)[:LISTED]
    unhealthy = [f"- {name}: {text}" for name, texts in service.health().items() for text in texts]
    expected = service.expected_backups()
    states = service.statistics().collections_by_state
    lines = [
        f"From {since:%Y-%m-%d %H:%M} to {now:%Y-%m-%d %H:%M} UTC:",
        *_count_lines(counts),
        "",
        *_expected_lines(expected),
        *_state_lines(service),
        *_untested_lines(service, now),
        *_unchanged_lines(service),
    ]
    lines += ["The service is not healthy:" if unhealthy else "The service is healthy.", *unhealthy]
    if events:
        lines += ["", "Problems:", *(f"- {event.at:%m-%d %H:%M} {describe(event, name_of(event))}" for event in events)]
    if changed := service.events(since=since, kinds=(KIND_CHANGED,), limit=LISTED):
        lines += ["", "Other formats than before, which were accepted:"]
        lines += [f"- {event.at:%m-%d %H:%M} {describe(event, name_of(event))}" for event in changed]
    if len(events) == LISTED or len(found) == READ:
        lines.append("- There may be more: `frepo events` lists all events.")
    title = ", ".join(count_of(kind, counts[kind].events) for kind in most_serious_first(counts)[:3])
    if failed := states.get("failed", 0):
        title = f"{failed} {'backup' if failed == 1 else 'backups'} failed" + (f", {title}" if title else "")
    if missing := sum(one.is_overdue for one in expected.missing):
        title = f"{missing} of {expected.expected} backups missing" + (f", {title}" if title else "")
    is_bad = bool(unhealthy or missing or failed) or any(is_problem(event) for event in events)
    return Message(
        title=f"[{sender}] Summary: {title or 'nothing happened'}",
        body="\n".join(lines),
        level="warning" if is_bad else "info",
    )


def _expected_lines(found: ExpectedBackups) -> Sequence[str]:
    """Return `98 of 100 expected backups have arrived`, and which are missing. Those in their grace are counted."""
    if not found.expected:
        return []
    overdue = [one for one in found.missing if one.is_overdue]
    late = len(found.missing) - len(overdue)
    text = f"{found.expected - len(found.missing)} of {found.expected} expected backups have arrived"
    text += f", {late} may still arrive in time" if late else ""
    lines = [f"{text}; missing:" if overdue else f"{text}."]
    lines += [
        f"- {one.collection.name} ({one.collection.id}), due at {one.due_at:%m-%d %H:%M}" for one in overdue[:LISTED]
    ]
    if len(overdue) > LISTED:
        lines.append(f"- and {len(overdue) - LISTED} more: `frepo status --overdue` lists all of them.")
    return [*lines, ""]


def _state_lines(service: Service) -> Sequence[str]:
    """Return the collections whose backups are not well, each with its states and the reason."""
    found = service.collections_in(NOT_WELL, limit=READ)
    if not found:
        return []
    number = len(found)
    lines = [f"{number} {'collection is' if number == 1 else 'collections are'} not well:"]
    for one in found[:LISTED]:
        where = f"{one.collection.name} ({one.collection.id})"
        lines.append(f"- {where}: {one.state} since {one.since:%m-%d %H:%M}: {one.reason}")
    if number > LISTED:
        lines.append(f"- and {number - LISTED} more: `frepo backup:list --state failed` lists those that failed.")
    return [*lines, ""]


def _untested_lines(service: Service, now: datetime) -> Sequence[str]:
    """Return which collections had no good restore test for too long."""
    found = service.untested_collections(limit=READ)
    if not found:
        return []
    lines = [f"- {one.name} ({one.id}): {_age(one.restore_tested_at, now)}" for one in found[:LISTED]]
    if len(found) > LISTED:
        lines.append(f"- and {len(found) - LISTED} more: `frepo status --untested` lists all of them.")
    return [f"{len(found)} collections had no good restore test for too long:", *lines, ""]


def _unchanged_lines(service: Service) -> Sequence[str]:
    """Return which collections get the same content for a week or longer, and for how many nights."""
    found = service.unchanged_collections(limit=READ)
    if not found:
        return []
    lines = [f"- {one.name} ({one.id}): unchanged for {one.unchanged_nights} nights" for one in found[:LISTED]]
    if len(found) > LISTED:
        lines.append(f"- and {len(found) - LISTED} more: `frepo backup:list --unchanged 7` lists all of them.")
    return ["The same content for a week or longer:", *lines, ""]


def _age(tested_at: datetime | None, now: datetime) -> str:
    if tested_at is None:
        return "never restore-tested"
    days = (now - tested_at).days
    return f"not restore-tested for {days} day{'' if days == 1 else 's'}"


def _count_lines(counts: Mapping[str, EventCount]) -> Sequence[str]:
    """Return a line for each kind, with the number of collections that it was about."""
    if not counts:
        return ["- nothing happened"]
    return [
        f"- {count_of(kind, counts[kind].events)}{_in_collections(counts[kind].collections)}"
        for kind in most_serious_first(counts)
    ]


def _in_collections(number: int) -> str:
    return {0: "", 1: " (1 collection)"}.get(number, f" ({number} collections)")


def _since(context: JobContext) -> datetime:
    last = context.service.last_success(NAME)
    return max(last, context.now - LONGEST) if last else context.now - FIRST


def _try(target: Target, message: Message, service: Service) -> str:
    """Send the message; return the problem, or an empty text."""
    try:
        send_message(target, message, service)
    except NotDelivered as error:
        return str(error)
    return ""
