"""HTTP API, 4.1: editing collections, their passwords and their lists of tokens."""

from frepo_core.domain.roles import Role
from support.answers import COUNT, NOBODY, ONE, TOTAL
from support.client import COLLECTIONS, with_settings

LOWER = "max_collection_size_is_lower_than_single_element_size"


def edit(caller, collection, query=(), **form):
    return caller.put(COLLECTIONS, {"collection": collection, **form}, query)


def shown(caller, collection):
    return caller.get(f"{COLLECTIONS}/{collection}").json["collection"]


def statuses(caller, collection, password=""):
    """Return the statuses of the collection's five versions with the password."""
    query = {"password": password, "redirect": "false"}
    return [caller.get(f"{COLLECTIONS}/{collection}/backup/v{number}", query).status_int for number in range(1, 6)]


def test_an_edit_changes_one_thing_and_keeps_the_others(root, make_collection):
    for field, value, shown_as, expected in [
        (COUNT, 3, "max_backups_count", 3),
        (ONE, "1MB", "max_one_backup_version_size", 1_000_000),
        (TOTAL, "5GB", "max_collection_size", 5_000_000_000),
        ("strategy", "alert_when_backup_limit_reached", "strategy", "alert_when_backup_limit_reached"),
        ("description", "new", "description", "new"),
        ("description", "", "description", ""),
        ("filename", "new.tar", "filename", "new.tar"),
        ("password", "x-5ecre7", "password_protected", True),
    ]:
        collection = make_collection(description="old")
        before = shown(root, collection)
        answer = edit(root, collection, **{field: value})

        answered = answer.json
        answered.pop("next_upload")

        assert answer.status_int == 202, field
        assert answered == {
            "status": "OK",
            "error_code": None,
            "http_code": 202,
            "exit_code": 202,
            "errors": {},
            "collection": before | {shown_as: expected},
            "context": None,
        }


def test_an_edit_is_persistent(root, collection):
    answer = edit(root, collection, description="new")

    assert shown(root, collection) == answer.json["collection"]


def test_the_collection_is_required_and_its_id_stays(root, collection):
    assert root.put(COLLECTIONS, {"description": "x"}).json["fields"] == {"form.collection": ["Field required"]}

    for value in [5, None, [], {}, ["a"]]:
        answer = root.put(COLLECTIONS, {"collection": value})
        assert (answer.status_int, set(answer.json["fields"])) == (400, {"form.collection"}), value

    answer = edit(root, collection, id=NOBODY)
    assert answer.json["fields"] == {"form": ['This request does not support extra parameters such as "id"']}


@with_settings(backup__max_versions="5")
def test_the_rules_of_creation_apply(root, collection):
    for form, code, errors, context in [
        ({COUNT: 6}, 4000, {COUNT: "max_backups_count_too_many"}, {"max": 5}),
        ({ONE: "5GB"}, 4002, {ONE: "max_one_version_size_too_big"}, {"max": "4.00GB"}),
        ({TOTAL: "16GB"}, 4001, {TOTAL: "max_collection_size_too_big"}, {"max": "15.00GB"}),
        ({TOTAL: "1MB"}, 4003, {TOTAL: LOWER}, None),
    ]:
        answer = edit(root, collection, **form)

        assert (answer.status_int, answer.json["error_code"]) == (400, code)
        assert (answer.json["errors"], answer.json["context"]) == (errors, context)


def test_the_size_cannot_be_set_below_the_stored_size(root, collection):
    root.push(collection, b"x" * 100)
    answer = edit(root, collection, maxOneVersionSize=50, maxCollectionSize=99)
    assert (answer.json["status"], answer.json["error_code"]) == ("Logic validation error", 4004)
    assert answer.json["errors"] == {TOTAL: "max_collection_size_is_smaller_than_real_sum_of_data_in_collection"}
    assert edit(root, collection, maxOneVersionSize=50, maxCollectionSize=100).status_int == 202


def test_switching_a_limit_off_needs_its_role(member, collection):
    for field in [COUNT, ONE, TOTAL]:
        assert edit(member(Role.MODIFY_COLLECTIONS), collection, **{field: 0}).status_int == 403, field

    for field in [COUNT, ONE, TOTAL]:
        answer = edit(member(Role.MODIFY_COLLECTIONS, Role.INFINITE_LIMITS), collection, **{field: 0})
        assert answer.status_int == 202, field


def test_a_simulated_edit_is_checked_and_changes_nothing(root, collection):
    answer = edit(root, collection, {"simulate": "true"}, description="new", maxBackupsCount=3)
    assert (answer.status_int, answer.json["collection"]["description"]) == (202, "new")
    assert edit(root, collection, {"simulate": "true"}, maxOneVersionSize="5GB").json["error_code"] == 4002

    before = shown(root, collection)
    edit(root, collection, {"simulate": "true"}, description="new", maxBackupsCount=3, password="x-5ecre7")
    assert before == shown(root, collection)

    before = shown(root, collection)
    edit(root, collection, description="new", maxOneVersionSize="5GB")
    assert before == shown(root, collection)


def test_a_password_protects_the_versions_that_are_uploaded_from_then_on(root, lister, collection):
    """Each keeps that of its upload. An edit that leaves it out keeps it, and an empty one removes it."""
    edits = [{"description": "a"}, {"password": "p-5ecre7"}, {"description": "b"}, {"password": "q-5ecre7"}]
    for number, form in enumerate([*edits, {"password": ""}]):
        edit(root, collection, **form)
        root.push(collection, b"%d" % number)
    assert statuses(lister, collection) == [200, 403, 403, 403, 200]
    assert statuses(lister, collection, "p-5ecre7") == [200, 200, 200, 403, 200]
    assert statuses(lister, collection, "q-5ecre7") == [200, 403, 403, 200, 200]


def test_a_password_given_at_creation_protects_the_versions(root, make_collection):
    collection = make_collection(password="p-5ecre7")
    name = root.push(collection).json["version"]["file"]["filename"]

    assert root.app.get(f"/repository/file/{name}", status="*").status_int == 403


def test_a_password_of_251_characters_is_refused(root, collection):
    assert set(edit(root, collection, password="x" * 251).json["fields"]) == {"form.password"}
