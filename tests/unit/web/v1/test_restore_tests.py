"""How a collection is restore-tested is chosen over HTTP, and the result is shown where those of other tests are."""

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import select

from frepo_core.db.models import Collection, Event, RestoreChoice
from frepo_core.domain.roles import Role
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.features.restore_tests.feature import test_restores as run_job
from frepo_core.features.restore_tests.nightly_tests import RestoreFailedError
from frepo_core.services.backups.rows.collection_rows import INCARNATION
from frepo_core.services.upkeep.pruning import prune_restore_choices
from frepo_core.testing import make_job_context

QUESTION = {"question": "SELECT count(*) FROM orders"}


def dump(*numbers, more=""):
    rows = "".join(f"INSERT INTO orders VALUES({number});\n" for number in numbers)
    return f"BEGIN TRANSACTION;\nCREATE TABLE orders(n);\n{rows}{more}COMMIT;\n".encode()


@pytest.fixture
def ini(ini):
    with tempfile.TemporaryDirectory(prefix="frepo-test-") as folder:
        Path(folder).chmod(0o711)
        engines = {"restore_tests.engines": "sqlite, command", "restore_tests.by_label": "lite=sqlite"}
        yield ini | engines | {"temp_directory": folder}


@pytest.fixture
def path(collection):
    return f"/api/v1/collections/{collection}/restore-test"


@pytest.fixture
def night(services):
    """Run the job of a night."""
    return lambda: run_job(services, make_job_context())


@pytest.fixture
def checked(root, collection):
    """The outcome and the message of the newest version's restore test, as the API shows it."""

    def checked():
        found = root.get(f"/api/v1/collections/{collection}/checks").json["items"]
        check = next(one for one in found if one["name"] == "restore")
        return check["outcome"], check["message"]

    return checked


def test_an_engine_of_the_settings_is_chosen_and_used_by_the_job(root, path, push, collection, night, checked):
    push(collection, dump(1, 2))
    nothing = {"engine": None, "used": None, "engines": ["sqlite", "command"], "assertions": {}, "last": None}
    assert nothing == root.get(path).json
    assert 0 == night()["good"]

    answer = root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION | {"min": 2}}})

    assert {"engine": "sqlite", "used": "sqlite"}.items() <= answer.json.items()
    assert {"question": QUESTION["question"], "min": 2}.items() <= answer.json["assertions"]["rows"].items()
    assert answer.json == root.get(path).json
    assert {"good": 1, "left": 0}.items() <= night().items()
    assert "good" == checked()[0]
    assert checked()[1].endswith("; 1 assertions hold")
    assert "good" == root.get(f"/api/v1/collections/{collection}").json["restore_outcome"]


def test_a_label_chooses_for_collections_that_choose_none(root, path, push, collection, night):
    root.call("PATCH", f"/api/v1/collections/{collection}", json={"labels": ["lite"]})
    push(collection, dump(1))

    assert "sqlite" == root.get(path).json["used"]
    assert 1 == night()["good"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"engine": "postgresql:15"}, "engine"),
        ({"engine": "sqlite", "command": "rm"}, "command"),
        ({"engine": "command", "assertions": {"rows": QUESTION}}, "assertions"),
        ({"assertions": {"rows": QUESTION}}, "engine"),
        ({"engine": "sqlite", "assertions": {"Rows": QUESTION}}, "assertions.Rows"),
        ({"engine": "sqlite", "assertions": {"rows": {"question": ""}}}, "assertions.rows.question"),
    ],
)
def test_what_the_settings_do_not_have_is_refused(root, path, body, field):
    answer = root.call("PUT", path, json=body)

    assert (400, True) == (answer.status_int, field in answer.json["errors"][0]["field"])


def test_assertions_need_the_right_to_read_the_versions(member, path, root):
    editor = member(Role.MODIFY_COLLECTIONS)
    root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION}})

    assert editor.get(path).json["assertions"] is None
    asked = {"engine": "sqlite", "assertions": {"rows": {"question": "SELECT password FROM users"}}}
    assert 403 == editor.call("PUT", path, json=asked).status_int
    assert 403 == editor.call("PUT", path, json={"engine": "sqlite"}).status_int
    reader = member(Role.MODIFY_COLLECTIONS, Role.LIST_VERSIONS)
    assert 200 == reader.call("PUT", path, json=asked).status_int


def test_what_is_not_sent_stays_as_it_is(root, path):
    both = {"rows": QUESTION | {"min": 2, "span": 1}, "newest": QUESTION}
    root.call("PUT", path, json={"engine": "sqlite", "assertions": both})
    before = root.get(path).json

    changed = {"assertions": {"rows": {"min": 5, "span": None}, "newest": None, "more": QUESTION}}
    answer = root.call("PATCH", path, json=changed)

    rows, more = before["assertions"]["rows"] | {"min": 5, "span": None}, before["assertions"]["newest"]
    assert before | {"assertions": {"rows": rows, "more": more}} == answer.json == root.get(path).json
    assert 400 == root.call("PATCH", path, json={"assertions": {"new": {"min": 1}}}).status_int
    many = {f"a{number}": QUESTION for number in range(49)}
    assert 400 == root.call("PATCH", path, json={"assertions": many}).status_int
    assert answer.json == root.get(path).json


def test_who_may_not_read_the_versions_changes_the_engine_and_keeps_the_assertions(member, path, root):
    root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION}})

    assert 200 == member(Role.MODIFY_COLLECTIONS).call("PATCH", path, json={"engine": "sqlite"}).status_int
    assert ["rows"] == list(root.get(path).json["assertions"])


def test_the_last_outcome_is_shown_to_who_may_read_the_versions(member, root, path, push, collection, night):
    assert root.get(path).json["last"] is None
    root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION | {"min": 5}}})
    push(collection, dump(1, 2))
    with pytest.raises(RestoreFailedError):
        night()

    last = root.get(path).json["last"]

    assert ("broken", 1) == (last["outcome"], last["version"])
    assert "rows: 2 is less than 5" in last["message"]
    assert member(Role.MODIFY_COLLECTIONS).get(path).json["last"] is None


def test_a_collection_keeps_its_choice_in_the_trash(root, path, collection):
    chosen = root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION}}).json
    root.call("DELETE", f"/api/v1/collections/{collection}")
    assert 404 == root.get(path).status_int

    assert 201 == root.post(f"/api/v1/deleted-collections/{collection}/restore", None).status_int

    assert chosen == root.get(path).json


def test_a_choice_ends_with_its_collection(services, root, path, collection):
    root.call("PUT", path, json={"engine": "sqlite"})
    root.call("DELETE", f"/api/v1/collections/{collection}")
    prune = partial(prune_restore_choices, services.database, keep_going=lambda: None)
    assert 0 == prune()

    root.call("DELETE", f"/api/v1/deleted-collections/{collection}")

    assert [1, 0] == [prune(), prune()]


def test_a_choice_is_an_event_that_names_the_assertions_only(services, root, path):
    root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION}})

    with services.database.reading() as session:
        edited = session.query(Event).where(Event.kind == "collection.edited").one().data

    assert {"restore_engine": "sqlite", "restore_assertions": ["rows"]} == edited["after"]
    assert QUESTION["question"] not in json.dumps(edited)


@pytest.mark.parametrize(
    ("assertion", "text"),
    [
        ({"min": 5}, "rows: 2 is less than 5"),
        ({"max": 1}, "rows: 2 is more than 1"),
        ({"question": "SELECT '2020-01-01 00:00:00'", "newest_within": "P1D"}, "rows: the newest was "),
        ({"question": "SELECT max(n) FROM orders WHERE n > 9"}, "rows: there is nothing"),
    ],
)
def test_a_copy_that_is_not_as_asserted_is_broken(root, path, push, collection, night, checked, assertion, text):
    root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION | assertion}})
    push(collection, dump(1, 2))

    with pytest.raises(RestoreFailedError):
        night()

    assert "broken" == checked()[0]
    assert text in checked()[1]


def test_a_question_that_cannot_be_answered_condemns_nothing(root, path, push, collection, night, checked):
    root.call(
        "PUT", path, json={"engine": "sqlite", "assertions": {"rows": {"question": "SELECT count(*) FROM order"}}}
    )
    push(collection, dump(1, 2))

    with pytest.raises(RestoreFailedError):
        night()

    assert "not checked" == checked()[0]
    assert 'rows: near "order": syntax error' in checked()[1]


def test_a_table_that_became_empty_is_named_and_one_that_always_was_is_not(
    services, root, path, push, collection, checked
):
    root.call("PUT", path, json={"engine": "sqlite"})

    def test(content):
        push(collection, content)
        tests = services.feature(RestoreTestServices).tests
        return tests.run(services.collections.get(collection), by=None).outcome

    more = "CREATE TABLE never(n);\n"
    assert ["good", "good"] == [test(dump(1, 2, more=more)), test(dump(3, more=more))]
    assert "suspicious" == test(dump(more=more))
    assert checked()[1].startswith("restored, but these were not empty in the last good restore, and are now: orders")
    root.call("PUT", path, json={"engine": "sqlite"})
    assert "good" == test(dump(more=more + "-- chosen again\n"))


@pytest.mark.parametrize(
    ("measured", "outcome", "text"),
    [
        ({"rows": 2}, "good", "; 1 assertions hold"),
        ({"rows": 2.1}, "good", "; 1 assertions hold"),
        ({"rows": 3}, "broken", "rows: 2 was restored, but the source had 3"),
        ({"others": 3}, "not checked", "rows: the client has sent no measurement of this name"),
        ({}, "not checked", "rows: the client has sent no measurement of this name"),
    ],
)
def test_a_copy_is_compared_with_what_the_client_has_measured_at_the_source(
    services, root, path, collection, checked, measured, outcome, text
):
    root.call("PUT", path, json={"engine": "sqlite", "assertions": {"rows": QUESTION | {"span": 10}}})
    root.call("PUT", f"/api/v1/collections/{collection}/versions", body=dump(1, 2))
    report = {"outcome": "ok", "exit_statuses": [0], "version": 1, "measured": measured}
    assert 201 == root.post(f"/api/v1/collections/{collection}/runs", report).status_int

    tests = services.feature(RestoreTestServices).tests

    assert outcome == tests.run(services.collections.get(collection), by=None).outcome
    assert text in checked()[1]


def test_two_changes_at_once_are_both_kept(root, path):
    root.put(path, {"engine": "sqlite", "assertions": {"first": QUESTION}})
    names = ["a", "b", "c", "d", "e", "f"]

    start = Barrier(len(names))

    def add(name):
        start.wait()
        return root.call("PATCH", path, json={"assertions": {name: QUESTION}}).status_int

    with ThreadPoolExecutor(len(names)) as threads:
        assert [200] * len(names) == list(threads.map(add, names))
    assert {"first", *names} == root.get(path).json["assertions"].keys()


@pytest.mark.parametrize(
    "odd",
    [
        {"rows": 7},
        {"rows": {"min": 1}},
        {"rows": {**QUESTION, "more": 1}},
        {"rows": {**QUESTION, "min": "x"}},
        {"rows": {**QUESTION, "newest_within": 1e300}},
    ],
)
def test_assertions_that_cannot_be_read_end_no_other_test(
    services, root, path, collection, make_collection, push, night, odd
):
    """As after a recovery from a journal that somebody has changed."""
    other = make_collection()
    for one in (collection, other):
        push(one, dump(1, 2))
        root.put(f"/api/v1/collections/{one}/restore-test", {"engine": "sqlite", "assertions": {}})
    chosen = services.feature(RestoreTestServices).choices

    def spoil(session):
        chosen = select(RestoreChoice).join(Collection, INCARNATION == RestoreChoice.incarnation)
        session.scalar(chosen.where(Collection.id == collection)).assertions = odd

    services.database.write(spoil)
    with pytest.raises(RestoreFailedError, match="1 of 2 .*set them again: rows"):
        night()

    outcomes = {one: chosen.last_outcome(one) for one in (collection, other)}
    assert "good" == outcomes[other].outcome
    assert "set them again: rows" in outcomes[collection].message
    assert 200 == root.put(path, {"engine": "sqlite", "assertions": {"rows": QUESTION}}).status_int
