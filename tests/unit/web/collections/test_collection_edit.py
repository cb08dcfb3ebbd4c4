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
    """Return the statuses of the collection's two versions with the password."""
    query = {"password": password, "redirect": "false"}
    return [caller.get(f"{COLLECTIONS}/{collection}/backup/v{number}", query).status_int for number in (1, 2)]


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


def test_the_fields_are_checked_as_on_creation(root, collection):
    for form, errors in [
        ({COUNT: -1}, {COUNT: "number_cannot_be_negative_value"}),
        ({ONE: "5 parsecs"}, {ONE: "cannot_parse_disk_space_check_format"}),
        ({"filename": "a/b"}, {"filename": "File name is not valid, please normalize it"}),
    ]:
        answer = edit(root, collection, **form)

        assert (answer.status_int, answer.json["status"], answer.json["errors"]) == (
            400,
            "Form validation error",
            errors,
        )


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


def test_a_password_protects_the_versions_uploaded_from_then_on(root, lister, collection):
    root.push(collection, b"one")
    edit(root, collection, password="p-5ecre7")
    root.push(collection, b"two")

    assert statuses(lister, collection) == [200, 403]


def test_a_protected_version_is_readable_with_the_password(root, lister, collection):
    edit(root, collection, password="p-5ecre7")
    root.push(collection, b"one")
    root.push(collection, b"two")

    assert statuses(lister, collection, "p-5ecre7") == [200, 200]


def test_a_password_given_at_creation_protects_the_versions(root, make_collection):
    collection = make_collection(password="p-5ecre7")
    name = root.push(collection).json["version"]["file"]["filename"]

    assert root.app.get(f"/repository/file/{name}", status="*").status_int == 403


def test_an_edit_that_leaves_the_password_out_keeps_it(root, lister, collection):
    edit(root, collection, password="p-5ecre7")
    edit(root, collection, description="new")
    root.push(collection, b"one")
    root.push(collection, b"two")

    assert statuses(lister, collection) == [403, 403]


def test_an_empty_password_removes_it_from_then_on(root, lister, collection):
    edit(root, collection, password="p-5ecre7")
    root.push(collection, b"one")
    edit(root, collection, password="")
    root.push(collection, b"two")

    assert statuses(lister, collection) == [403, 200]


def test_a_new_password_is_for_new_versions(root, lister, collection):
    edit(root, collection, password="old-5ecre7")
    root.push(collection, b"one")
    edit(root, collection, password="new-5ecre7")
    root.push(collection, b"two")

    assert statuses(lister, collection, "new-5ecre7") == [403, 200]


def test_a_password_of_251_characters_is_refused(root, collection):
    assert set(edit(root, collection, password="x" * 251).json["fields"]) == {"form.password"}
