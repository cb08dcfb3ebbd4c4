"""The inventory of tokens: which exist, what each may do, who made it, and when and from where it was used last."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, case, cast, func, or_, select
from sqlalchemy.orm import Session

from frepo_core.db import Database, text_expressions
from frepo_core.db.models import Collection, CollectionToken, Installation, Token
from frepo_core.domain.identity import By, Identity
from frepo_core.domain.permissions import allows
from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import fingerprint
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError
from frepo_core.settings import Settings

from ..base.keyset import Page, PageRequest, cut, paged
from .chains import find_chains
from .token_records import ListedCollection, TokenRecord, admin_token_key
from .token_rows import check_fingerprint, sees_collection, token_not_found, visible_to

# Of each token, this many collections are shown.
MAX_COLLECTIONS = 20
# The row of `installation` with the time from which on uses are recorded; migration 0017 writes it.
USES_FROM = "token_uses_from"
# Columns of pages must not be null. A token that was never used comes before all others, one that never ends after
# them.
SORTS: Mapping[str, tuple[Any, ...]] = {
    "name": (Token.name,),
    "created_at": (Token.created_at,),
    "last_used_at": (
        case((Token.last_used_at.is_(None), 0), else_=1),
        func.coalesce(Token.last_used_at, Token.created_at),
    ),
    "expires_at": (
        case((Token.expires_at.is_(None), 1), else_=0),
        func.coalesce(Token.expires_at, Token.created_at),
    ),
}


@struct
class TokenSearch:
    """What to look for; empty and None restrict nothing.

    `text` is a part of the name or of the fingerprint. `role` is one that the token itself has: an administrator's
    token has only `security.administrator`. `collection` is the id of a collection that lists the token. `unused_since`
    (aware) finds the tokens that existed then and were not used since.
    """

    text: str = ""
    role: Role | None = None
    collection: str = ""
    unused_since: datetime | None = None


class TokenInventory:
    """Lists tokens for callers of the role `security.list_tokens`, and for `frepo`, for which `by` is None.

    A token sees only tokens of collections that it may see, see `token_rows.visible_to`.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._admin_key = admin_token_key(settings)

    def page(self, search: TokenSearch, page: PageRequest, *, by: By) -> Page[TokenRecord]:
        """Return a page of the tokens, ordered by a name of `SORTS`. Raises `FieldsError` for another name."""
        if page.sort not in SORTS:
            raise FieldsError({"sort": [f"is not one of {', '.join(SORTS)}"]})
        columns = [*SORTS[page.sort], Token.fingerprint]
        with self._database.reading() as session:
            query = select(Token.key, *columns).where(*visible_to(by), *_conditions(session, search, by))
            found = cut(session.execute(paged(query, page, columns)).all(), page, lambda row: row[1:])
            keys = [row.key for row in found.items]
            return Page(items=self._records(session, keys, by), next=found.next)

    def show(self, text: str, *, by: By) -> TokenRecord:
        """Return the token. Raises `FieldsError` for a malformed fingerprint, `NotFoundError` for an unknown one."""
        query = select(Token.key).where(Token.fingerprint == check_fingerprint(text), *visible_to(by))
        with self._database.reading() as session:
            key = session.scalar(query)
            if key is None:
                raise token_not_found(text, is_admin_setting=self._is_of_setting(text))
            return self._records(session, [key], by)[0]

    def names(self, fingerprints: Iterable[str], *, by: By) -> Mapping[str, str]:
        """Return the names of those of the tokens that exist, have a name, and that `by` may see, by fingerprint."""
        wanted = set(fingerprints)
        if not wanted:
            return {}
        with self._database.reading() as session:
            return _find_names(session, wanted, by)

    def lacks_admin_token(self) -> bool:
        """Return whether `security.admin_token` is set, and its token does not exist: `frepo install` would make it."""
        if self._admin_key is None:
            return False
        with self._database.reading() as session:
            return session.get(Token, self._admin_key) is None

    def record(self, session: Session, row: Token, *, by: By) -> TokenRecord:
        """Return the record of a row in a transaction."""
        session.flush()
        return self._of(session, [row], by)[0]

    def _is_of_setting(self, text: str) -> bool:
        return self._admin_key is not None and fingerprint(self._admin_key, len(text)) == text.lower()

    def _records(self, session: Session, keys: Sequence[str], by: By) -> list[TokenRecord]:
        rows = {row.key: row for row in session.scalars(select(Token).where(Token.key.in_(keys)))}
        return self._of(session, [rows[key] for key in keys if key in rows], by)

    def _of(self, session: Session, rows: Sequence[Token], by: By) -> list[TokenRecord]:
        keys = [row.key for row in rows]
        counts = _count_collections(session, keys, by)
        lists = _find_collections(session, counts, by)
        chains = find_chains(session, rows)
        makers = _find_names(session, {row.created_by for row in rows if row.created_by}, by)
        return [
            TokenRecord.of(
                row,
                self._admin_key,
                lists[row.key],
                counts.get(row.key, 0),
                maker=makers.get(row.created_by or ""),
                chain=chains.get(row.chain_key or row.key, ()),
            )
            for row in rows
        ]


def _conditions(session: Session, search: TokenSearch, by: By) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if text := search.text:
        conditions.append(
            or_(
                text_expressions.contains_unindexed(Token.name, text),
                text_expressions.contains_unindexed(Token.fingerprint, text),
            )
        )
    if search.role is not None:  # the column is a JSON list of names
        conditions.append(cast(Token.roles, Text).contains(f'"{search.role.value}"', autoescape=True))
    if search.collection:
        listed = select(CollectionToken.token_key).where(CollectionToken.collection_id == search.collection.lower())
        conditions.append(Token.key.in_(_seen(listed, by)))
    if search.unused_since is not None:
        conditions.append(_is_unused(search.unused_since, _uses_from(session)))
    return conditions


def _is_unused(since: datetime, recorded_from: datetime | None) -> ColumnElement[bool]:
    """Match tokens that existed at a time and were not used since. Before the recording began, nothing is known."""
    was_used_before: ColumnElement[bool] = Token.last_used_at < since
    if recorded_from is not None and since < recorded_from:
        return was_used_before
    return or_(was_used_before, and_(Token.last_used_at.is_(None), Token.created_at < since))


def _uses_from(session: Session) -> datetime | None:
    found = session.scalar(select(Installation.value).where(Installation.name == USES_FROM))
    return datetime.fromisoformat(found) if found else None


def _find_names(session: Session, fingerprints: Iterable[str], by: By) -> dict[str, str]:
    query = select(Token.fingerprint, Token.name).where(Token.fingerprint.in_(fingerprints), Token.name != "")
    return dict(session.execute(query.where(*visible_to(by))).all())


def _count_collections(session: Session, keys: Sequence[str], by: By) -> dict[str, int]:
    query = select(CollectionToken.token_key, func.count()).where(CollectionToken.token_key.in_(keys))
    return dict(session.execute(_seen(query, by).group_by(CollectionToken.token_key)).all())


def _find_collections(session: Session, counts: Mapping[str, int], by: By) -> dict[str, list[ListedCollection]]:
    """Return some of the collections that list each of these tokens, in the order of their names.

    Few tokens have more collections than are shown. Each of these tokens has a query of its own with a limit.
    """
    query = select(CollectionToken.token_key, Collection.id, Collection.filename).join(
        Collection, Collection.id == CollectionToken.collection_id
    )
    few = [key for key, count in counts.items() if count <= MAX_COLLECTIONS]
    queries = [_seen(query.where(CollectionToken.token_key.in_(few)), by)] if few else []
    queries += [
        _seen(query.where(CollectionToken.token_key == key), by).limit(MAX_COLLECTIONS) for key in counts.keys() - few
    ]
    lists: dict[str, list[ListedCollection]] = defaultdict(list)
    for each in queries:
        for key, collection_id, name in session.execute(each):
            lists[key].append(ListedCollection(id=collection_id, name=name))
    for found in lists.values():
        found.sort(key=lambda collection: (collection.name, collection.id))
    return lists


def _seen(query: Any, by: By) -> Any:
    """Restrict a query on `CollectionToken` to the collections that the caller may see."""
    if not isinstance(by, Identity) or allows("collection.fetch", by):
        return query
    return query.where(sees_collection(by))
