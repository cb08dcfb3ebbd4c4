from datetime import UTC, datetime, time, timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.roles import Role

TODAY = utc_now().date()


@pytest.fixture
def lister(make_token):
    return make_token(Role.LIST_COLLECTIONS)


@pytest.fixture
def create(app, admin):
    """Create a collection and allow tokens; return its id."""

    def create(filename="a.sql", tokens=(), by=admin, **more):
        form = {"filename": filename, **more}
        made = app.post_json("/repository/collection", form, headers={"token": by}, status=202).json["collection"]["id"]
        for token in tokens:
            app.post_json(f"/repository/collection/{made}/token", {"token": token}, headers={"token": admin})
        return made

    return create


@pytest.fixture
def names(app, admin):
    """List collections; return their file names."""

    def names(query="", token=admin):
        elements = app.get(f"/repository/collection?{query}", headers={"token": token}).json["elements"]
        return [element["filename"] for element in elements]

    return names


@pytest.mark.databases
def test_the_answer_has_the_shape_that_clients_know(app, admin, create):
    made = create(description="nightly", password="word-5ecre7")

    answer = app.get("/repository/collection", headers={"token": admin}).json

    fetched = app.get(f"/repository/collection/{made}", headers={"token": admin}).json["collection"]
    assert answer == {
        "status": "OK",
        "http_code": 200,
        "elements": [fetched],
        "pagination": {"current": 1, "max": 1, "perPage": 20},
    }


@pytest.mark.databases
def test_the_newest_is_first(create, names):
    for name in "abc":
        create(name)

    assert names() == ["c", "b", "a"]


def test_a_token_that_may_fetch_every_collection_sees_all(create, names, make_token):
    create("a")

    for role in [Role.VIEW_ALL_COLLECTIONS, Role.MODIFY_ANY_COLLECTION, Role.ADMINISTRATOR]:
        assert names(token=make_token(Role.LIST_COLLECTIONS, role)) == ["a"], role


@pytest.mark.databases
def test_a_search_is_literal_except_for_stars_at_the_ends(create, names):
    create("x.sql", description="Żółw i jaŹń")
    create("Kb_1.sql")
    for search, found in [
        ("kb", ["Kb_1.sql"]),
        ("*KB*", ["Kb_1.sql"]),
        ("*.sql", ["Kb_1.sql", "x.sql"]),
        ("K*b", []),
        ("*", ["Kb_1.sql", "x.sql"]),
        ("***", ["Kb_1.sql", "x.sql"]),
        ("", ["Kb_1.sql", "x.sql"]),
        ("_", ["Kb_1.sql"]),
        ("%25", []),
        ("\\", []),
        ("%C5%BB%C3%B3%C5%82w", ["x.sql"]),
        ("ja%C5%B9%C5%84", ["x.sql"]),
    ]:
        assert names(f"searchQuery={search}") == found, search


@pytest.mark.databases
def test_a_search_finds_ids(create, names):
    create("a")
    made = create("b")

    assert names(f"searchQuery={made[:13].upper()}") == ["b"]


@pytest.fixture
def three_days(services, create):
    """Collections of the day before yesterday, of yesterday and of today."""
    midnight = datetime.combine(TODAY, time.min, UTC)  # also if the tests began before midnight
    moments = {
        "before": midnight - timedelta(days=1, microseconds=1),
        "begin": midnight - timedelta(days=1),
        "end": midnight - timedelta(microseconds=1),
        "today": midnight,
    }
    ids = {name: create(name) for name in moments}

    def work(session):
        for name, moment in moments.items():
            session.execute(update(Collection).where(Collection.id == ids[name]).values(created_at=moment))

    services.database.write(work)


@pytest.mark.databases
def test_days_are_inclusive(three_days, names):
    for days, found in [
        ({"createdFrom": 1}, ["today", "end", "begin"]),
        ({"createdTo": 1}, ["end", "begin", "before"]),
        ({"createdFrom": 1, "createdTo": 1}, ["end", "begin"]),
        ({"createdFrom": 0}, ["today"]),
        ({"createdFrom": 0, "createdTo": 1}, []),
        ({"createdFrom": 2, "createdTo": 2}, ["before"]),
    ]:
        assert names("&".join(f"{name}={TODAY - timedelta(days=ago)}" for name, ago in days.items())) == found


@pytest.mark.databases
def test_the_first_and_last_possible_days_and_empty_ones_are_accepted(create, names):
    create("a")

    for query in [
        "createdFrom=0001-01-01",
        "createdTo=9999-12-31",
        "createdFrom=&createdTo=",
        "createdFrom=1970-01-01",
    ]:
        assert names(query) == ["a"], query


def test_an_invalid_day_is_an_error_of_its_field(app, admin):
    for value in [
        "20260101",
        "1700000000",
        "01.02.2026",
        "2026-02-30",
        "2026-01-01T10:00:00",
        "0",
        "today",
        "10000-01-01",
    ]:
        for name in ["createdFrom", "createdTo"]:
            answer = app.get(f"/repository/collection?{name}={value}", headers={"token": admin}, status=400)

            assert list(answer.json["fields"]) == [f"form.{name}"]


@pytest.mark.databases
def test_collections_can_be_filtered_by_the_tokens_on_their_lists(create, names, make_token):
    one, other, nobody = make_token(), make_token(), make_token()
    create("a", tokens=[one])
    create("b", tokens=[other])
    create("ab", tokens=[one, other])

    assert names(f"allowedTokens[]={one}") == ["ab", "a"]
    assert names(f"allowedTokens[]={one.upper()}&allowedTokens[]={other}") == ["ab", "b", "a"]
    assert names(f"allowedTokens={nobody}") == []
    assert names("allowedTokens[]=no-token") == []


def test_a_filter_by_token_shows_only_collections_that_the_caller_may_see(create, names, lister, make_token):
    other = make_token()
    create("a", tokens=[other])

    assert names(f"allowedTokens[]={other}", token=lister) == []


@pytest.mark.databases
def test_pages_contain_and_count_only_what_the_token_may_see(app, create, lister):
    for name in "abc":
        create(name, tokens=[lister])
    create("other")

    for page, found in [(1, ["c", "b"]), (2, ["a"]), (3, [])]:
        answer = app.get(f"/repository/collection?limit=2&page={page}", headers={"token": lister}).json

        assert [element["filename"] for element in answer["elements"]] == found
        assert answer["pagination"] == {"current": page, "max": 2, "perPage": 2}
