"""The inventory of tokens: filters, orders, pages, and who may see which token."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, insert, update

from frepo_core.db import utc_now
from frepo_core.db.models import CollectionToken, Installation, Token
from frepo_core.domain.roles import Role
from frepo_core.errors import FieldsError, NotFoundError
from frepo_core.services.access.token_inventory import MAX_COLLECTIONS, USES_FROM, TokenSearch
from frepo_core.services.backups.collections.collections import CollectionChange
from frepo_core.services.base.keyset import PageRequest

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def make(services, identify):
    """Make a token with these values in its row; return its identity."""

    def make(name="", *roles, **columns):
        made = identify(*(roles or [Role.UPLOAD_ALL]), name=name or None)
        if columns:
            change = update(Token).where(Token.key == made.token).values(**columns)
            services.database.write(lambda session: session.execute(change))
        return made

    return make


@pytest.fixture
def names(services):
    """Return the names of the tokens that a search finds."""

    def names(by=None, sort="name", *, is_descending=False, limit=50, **search):
        page = PageRequest(sort=sort, is_descending=is_descending, limit=limit)
        found = services.token_inventory.page(TokenSearch(**search), page, by=by)
        return [token.name for token in found.items]

    return names


@pytest.fixture
def collection(services):
    """Make a collection that lists these tokens; return its id."""

    def collection(*tokens, name="dump.sql"):
        made = services.collections.create(CollectionChange(limits={}, filename=name), by=None).id
        for token in tokens:
            services.token_lists.allow(made, token.token)
        return made

    return collection


@pytest.fixture
def record_uses_from(services):
    """Set since when the uses of tokens are recorded."""

    def record_uses_from(moment):
        row = Installation(name=USES_FROM, value=moment.isoformat())
        services.database.write(lambda session: session.merge(row) and None)

    return record_uses_from


@pytest.mark.databases
def test_a_token_of_the_console_is_shown_with_all_it_has(services, make_token):
    token_id = make_token(
        Role.UPLOAD_ALL, name="db7", tags=["a"], mimes=["image/png"], max_file_size=9, expires="2035-01-01"
    )
    fingerprint = services.tokens.look_up(token_id).fingerprint

    shown = services.token_inventory.show(fingerprint.upper(), by=None)

    assert (fingerprint, "db7", ("upload.all",), ("a",), ("image/png",), 9) == (
        shown.fingerprint,
        shown.name,
        shown.roles,
        shown.tags,
        shown.mimes,
        shown.max_file_size,
    )
    assert datetime(2035, 1, 1, tzinfo=UTC) == shown.expires_at
    assert shown.created_by.startswith("console:")
    assert (None, None, None, (), 0) == (
        shown.last_used_at,
        shown.last_used_from,
        shown.setting,
        shown.collections,
        shown.collections_count,
    )


def test_a_token_names_the_token_that_made_it(services, identify):
    from frepo_core.services.access.tokens import NewToken

    maker = identify(Role.ADMINISTRATOR)
    made = services.tokens.generate(NewToken(roles=[Role.UPLOAD_ALL]), by=maker)

    assert maker.fingerprint == services.token_inventory.show(made.fingerprint, by=None).created_by


@pytest.mark.databases
def test_a_token_shows_the_name_of_its_maker_to_those_who_may_see_that_token(services, make, collection):
    maker, friend = make("maker", Role.GENERATE_TOKENS), make("friend", Role.LIST_TOKENS)
    stranger, nameless = make("stranger", Role.LIST_TOKENS), make()
    made, other = make(created_by=maker.fingerprint), make(created_by=nameless.fingerprint)
    collection(maker, friend)

    def name_for(by, token=made):
        return services.token_inventory.show(token.fingerprint, by=by).created_by_name

    assert ("maker", "maker", None) == (name_for(None), name_for(friend), name_for(stranger))
    assert name_for(None, other) is None
    services.database.write(lambda session: session.execute(delete(Token).where(Token.key == maker.token)))
    assert name_for(None) is None


def test_a_text_that_is_no_fingerprint_is_refused_and_not_repeated(services):
    for text in ["not a fingerprint", "c4a8fd64-7ec4-4b13-8a0e-2f0c0a3f6a11", "abc"]:
        with pytest.raises(FieldsError) as refused:
            services.token_inventory.show(text, by=None)

        assert text not in str(refused.value.fields)


@pytest.mark.databases
def test_tokens_are_found_by_a_part_of_the_name_or_of_the_fingerprint(make, names):
    made = make("Nightly db7")
    make("photos")

    assert ["Nightly db7"] == names(text="TLY D")  # a fingerprint may have "db7", too
    assert ["Nightly db7"] == names(text=made.fingerprint[3:11])
    assert [] == names(text="%")


@pytest.mark.databases
def test_tokens_are_found_by_a_role_of_their_own(make, names):
    make("clerk", Role.UPLOAD_ALL, Role.LIST_COLLECTIONS)
    make("chief", Role.ADMINISTRATOR)

    assert ["clerk"] == names(role=Role.LIST_COLLECTIONS)
    assert ["chief"] == names(role=Role.ADMINISTRATOR)
    assert [] == names(role=Role.CREATE_COLLECTIONS)


@pytest.mark.databases
def test_tokens_are_found_by_a_collection_that_lists_them(make, names, collection):
    listed, _ = make("listed"), make("other")
    assert ["listed"] == names(collection=collection(listed).upper())
    assert [] == names(collection="no such collection")


@pytest.mark.databases
def test_unused_tokens_existed_then_and_were_not_used_since(make, names, record_uses_from):
    record_uses_from(LONG_AGO)
    day = datetime(2026, 6, 1, tzinfo=UTC)
    before, after = day - timedelta(days=9), day + timedelta(days=9)
    make("used before", created_at=before, last_used_at=before)
    make("used after", created_at=before, last_used_at=after)
    make("never used", created_at=before)
    make("new", created_at=after)

    assert ["never used", "used before"] == names(unused_since=day)


@pytest.mark.databases
def test_uses_before_they_were_recorded_are_unknown(services, make, names, record_uses_from):
    """Otherwise each token would look unused right after the upgrade."""
    record_uses_from(utc_now())
    make("older than the recording", created_at=LONG_AGO)

    assert [] == names(unused_since=LONG_AGO + timedelta(days=90))
    assert ["older than the recording"] == names(unused_since=utc_now() + timedelta(seconds=1))
    services.database.write(lambda session: session.execute(delete(Installation).where(Installation.name == USES_FROM)))
    assert ["older than the recording"] == names(unused_since=LONG_AGO + timedelta(days=90))


ORDERS = {
    "name": ["a", "b", "c"],
    "created_at": ["c", "b", "a"],
    "last_used_at": ["b", "c", "a"],  # b was never used
    "expires_at": ["c", "a", "b"],  # b never expires
}


@pytest.mark.databases
def test_each_order_and_its_pages(services, make):
    day = timedelta(days=1)
    make("a", created_at=LONG_AGO + 2 * day, last_used_at=LONG_AGO + day, expires_at=LONG_AGO + 3 * day)
    make("b", created_at=LONG_AGO + day)
    make("c", created_at=LONG_AGO, last_used_at=LONG_AGO, expires_at=LONG_AGO + 2 * day)

    def read(sort, *, is_descending):
        found, after = [], None
        while True:
            request = PageRequest(limit=1, sort=sort, is_descending=is_descending, after=after)
            page = services.token_inventory.page(TokenSearch(), request, by=None)
            found += [token.name for token in page.items]
            after = page.next
            if after is None:
                return found

    for sort, expected in ORDERS.items():
        assert expected == read(sort, is_descending=False), sort
        assert expected[::-1] == read(sort, is_descending=True), sort


@pytest.mark.databases
def test_tokens_of_one_name_are_listed_once_each(services, make):
    expected = sorted(make("twin").fingerprint for _ in range(5))
    first = services.token_inventory.page(TokenSearch(), PageRequest(limit=3, sort="name"), by=None)
    rest = services.token_inventory.page(TokenSearch(), PageRequest(limit=3, sort="name", after=first.next), by=None)

    assert expected == [token.fingerprint for token in [*first.items, *rest.items]]


def test_a_token_shows_its_collections(services, make, collection):
    token = make("db7")
    ids = {name: collection(token, name=name) for name in ("b.sql", "a.sql")}
    collection(name="other.sql")

    shown = services.token_inventory.show(token.fingerprint, by=None)

    assert [("a.sql", ids["a.sql"]), ("b.sql", ids["b.sql"])] == [(one.name, one.id) for one in shown.collections]
    assert 2 == shown.collections_count


@pytest.mark.databases
def test_of_many_collections_the_first_are_shown_and_all_are_counted(services, make, collection):
    token = make("db7")
    made = [collection(name=f"{number}.sql") for number in range(MAX_COLLECTIONS + 2)]
    rows = [{"collection_id": one, "token_key": token.token} for one in made]
    services.database.write(lambda session: session.execute(insert(CollectionToken), rows))

    shown = services.token_inventory.show(token.fingerprint, by=None)

    assert (MAX_COLLECTIONS, MAX_COLLECTIONS + 2) == (len(shown.collections), shown.collections_count)


@pytest.mark.databases
def test_nobody_sees_a_token_of_collections_that_it_may_not_see(services, make, names, collection):
    watcher, friend, stranger, _ = make("watcher", Role.LIST_TOKENS), make("friend"), make("stranger"), make("unlisted")
    shared = collection(watcher, friend)
    hidden = collection(friend, stranger, name="secret.sql")

    assert ["friend", "unlisted", "watcher"] == names(by=watcher)
    assert [] == names(by=watcher, collection=hidden)
    shown = services.token_inventory.show(friend.fingerprint, by=watcher)
    assert ([shared], 1) == ([one.id for one in shown.collections], shown.collections_count)
    with pytest.raises(NotFoundError):
        services.token_inventory.show(stranger.fingerprint, by=watcher)


@pytest.mark.parametrize("role", [Role.VIEW_ALL_COLLECTIONS, Role.MODIFY_ANY_COLLECTION, Role.ADMINISTRATOR])
def test_who_sees_every_collection_sees_every_token(make, names, collection, role):
    watcher, stranger = make("watcher", Role.LIST_TOKENS, role), make("stranger")
    collection(stranger)

    assert ["stranger", "watcher"] == names(by=watcher)
