"""The text of the report."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from frepo_core.plugins import CollectionUsage, Message, readable_size

NEEDS_ACTION = ("broken", "damaged", "failed", "full", "overdue", "suspicious")
LISTED = 100
WEEK = timedelta(days=7)


def make_report(found: Sequence[CollectionUsage], *, now: datetime) -> Message:
    """Return what is backed up, the largest collections first, and what needs action; `now` is in UTC."""
    troubled = [one for one in found if one.state in NEEDS_ACTION]
    quiet = [one for one in found if one.newest_at is None or now - one.newest_at > WEEK]
    size = sum(one.size for one in found)
    lines = [
        f"{sum(one.versions for one in found)} versions in {len(found)} collections, {readable_size(size)}.",
        f"{len(quiet)} collections got no version this week.",
        "",
        *(f"- {one.name} ({one.id}) is {one.state}" for one in troubled[:LISTED]),
        *_more(len(troubled)),
        "" if troubled else "No collection needs action.",
        "The largest collections:",
        *(f"- {one.name}: {readable_size(one.size)}" for one in sorted(found, key=lambda one: -one.size)[:10]),
    ]
    title = f"Weekly report: {len(troubled)} of {len(found)} collections need action"
    return Message(title=title, body="\n".join(lines), level="warning" if troubled else "info")


def _more(number: int) -> list[str]:
    return [f"- and {number - LISTED} more"] if number > LISTED else []
