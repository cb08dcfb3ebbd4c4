"""Decides how much of a plain file a token sees: all of it, a masked row, or nothing."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Collection as Ids
from enum import Enum

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import File, Tag, file_tag
from frepo_core.domain.identity import Identity
from frepo_core.domain.permissions import allows

_TAG = Tag.__table__


class Sight(Enum):
    """What a token sees of a file."""

    FULL = "full"
    MASKED = "masked"
    NOTHING = "nothing"


def see_files(session: Session, ids: Ids[int], by: Identity) -> dict[int, Sight]:
    """Return what the token sees of each of these files without a password. Those of versions are left out."""
    if not ids:
        return {}
    query = select(File.id, File.public, File.password_hash).where(File.id.in_(ids), File.kind == "plain")
    rows = session.execute(query).all()
    tags = tags_of(session, [row.id for row in rows])
    return {row.id: see_file(row.public, row.password_hash, tags[row.id], by) for row in rows}


def tags_of(session: Session, ids: Ids[int]) -> dict[int, list[str]]:
    """Return the tags of each of these files, in alphabetical order."""
    tags: dict[int, list[str]] = defaultdict(list)
    query = select(file_tag.c.file_id, _TAG.c.name).join(_TAG, _TAG.c.id == file_tag.c.tag_id)
    for file, tag in session.execute(query.where(file_tag.c.file_id.in_(ids)).order_by(_TAG.c.name)):
        tags[file].append(tag)
    return tags


def sees_all_files(by: Identity) -> bool:
    """Return whether the token sees every file in full."""
    actions = ("file.list", "file.list_private", "file.list_all_tags", "file.read_any")
    return all(allows(action, by) for action in actions)


def shares_tags(tags: Sequence[str], by: Identity) -> bool:
    """Return whether a file with these tags is shown in full: it shares one with the token, or neither has tags."""
    if allows("file.list_all_tags", by):
        return True
    return bool(set(tags) & set(by.tags)) or not (tags or by.tags)


def see_file(
    is_public: bool,
    password_hash: str | None,
    tags: Sequence[str],
    by: Identity,
    has_password: Callable[[str], bool] = lambda stored: False,
) -> Sight:
    """Return what the token sees of a file. `has_password` says of a hash whether the caller has sent its password."""
    if not is_public and not allows("file.list_private", by):
        return Sight.NOTHING
    is_full = allows("file.list", by) and shares_tags(tags, by) and is_unlocked(password_hash, by, has_password)
    return Sight.FULL if is_full else Sight.MASKED


def is_unlocked(password_hash: str | None, by: Identity, has_password: Callable[[str], bool]) -> bool:
    """Return whether the password of a file does not mask it, as there is none, it was sent, or it is not needed."""
    return not password_hash or allows("file.read_any", by) or has_password(password_hash)
