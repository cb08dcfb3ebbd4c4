"""Contract 4.1: creating, showing and deleting collections, and the table of their rules."""

import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.roles import Role
from web.client import COLLECTIONS, with_settings

CHOSEN = "8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a"
NOBODY = "9b2ff1a2-8e2b-4d61-9d3c-8f6a3d6f1b11"
GONE = {"form.collection": ["collection_no_longer_exists"]}
COUNT, ONE, TOTAL = "maxBackupsCount", "maxOneVersionSize", "maxCollectionSize"
STRATEGIES = "unknown_strategy_allowed___alert_when_backup_limit_reached___or__delete_oldest_when_adding_new"
SMALL = {COUNT: 5, ONE: "5MB", TOTAL: "25MB"}


def refusal(answer):
    """Return what clients look for in the answer to a rule that is broken."""
    return answer.status_int, answer.json["status"], answer.json["error_code"], answer.json["errors"]


def test_a_created_collection_is_answered_in_its_envelope(root):
    answer = root.create(description="nightly", filename="dump.sql.gz", **SMALL)
    body = answer.json
    created, collection_id = body["collection"].pop("created_at"), body["collection"].pop("id")

    assert answer.status_int == 202
    assert body == {
        "status": "OK",
        "error_code": None,
        "http_code": 202,
        "exit_code": 202,
        "errors": {},
        "collection": {
            "max_backups_count": 5,
            "max_one_backup_version_size": 5_000_000,
            "max_collection_size": 25_000_000,
            "strategy": "delete_oldest_when_adding_new",
            "description": "nightly",
            "filename": "dump.sql.gz",
            "versions_count": 0,
            "stored_size": 0,
            "last_version": 0,
            "password_protected": False,
            "min_retention": None,
            "min_version_size": 0,
            "max_shrink_percent": 0,
            "on_suspicious": "refuse",
        },
        "context": None,
    }
    assert uuid.UUID(collection_id).version == 4
    assert (created["timezone_type"], created["timezone"]) == (3, "UTC")


def test_the_date_is_utc_with_six_digits(root):
    date = root.create().json["collection"]["created_at"]["date"]

    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}", date)
    assert abs(datetime.fromisoformat(date).replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(seconds=30)


def test_what_is_omitted_takes_the_settings(root):
    made = root.create().json["collection"]

    assert (made["max_backups_count"], made["max_one_backup_version_size"], made["max_collection_size"]) == (
        0,
        4_000_000_000,
        15_000_000_000,
    )


@with_settings(backup__max_versions="7", backup__one_version_max_size="1MB", backup__collection_max_size="7MB")
def test_what_is_omitted_takes_other_settings(root):
    made = root.create().json["collection"]

    assert (made["max_backups_count"], made["max_one_backup_version_size"], made["max_collection_size"]) == (
        7,
        1_000_000,
        7_000_000,
    )


def test_omitting_limits_needs_no_role(holder):
    answer = holder(Role.CREATE_COLLECTIONS).create()

    assert answer.status_int == 202


def test_null_is_omitted(root):
    answer = root.create(maxBackupsCount=None, strategy=None, description=None, password=None, id=None)

    assert answer.status_int == 202


@pytest.mark.parametrize("field", [COUNT, ONE, TOTAL])
@pytest.mark.parametrize("zero", [0, "0"])
def test_switching_a_limit_off_needs_its_role(holder, field, zero):
    answer = holder(Role.CREATE_COLLECTIONS).create(**{field: zero})

    assert (answer.status_int, answer.json["error_code"], answer.json["collection"]) == (403, 403, None)


@pytest.mark.parametrize("zero", ["0B", "0 GB", "0.0", 0])
def test_zero_bytes_are_zero_however_they_are_written(holder, zero):
    answer = holder(Role.CREATE_COLLECTIONS).create(maxCollectionSize=zero)

    assert answer.status_int == 403


@pytest.mark.parametrize("field", [COUNT, ONE, TOTAL])
def test_the_role_switches_a_limit_off(holder, field):
    answer = holder(Role.CREATE_COLLECTIONS, Role.INFINITE_LIMITS).create(**{field: 0})

    assert answer.status_int == 202


@with_settings(backup__max_versions="7")
def test_a_limit_that_is_off_is_above_no_ceiling(root):
    answer = root.create(maxBackupsCount=0, maxOneVersionSize=0, maxCollectionSize=0)

    assert answer.status_int == 202


@pytest.mark.parametrize(
    ("size", "bytes_"),
    [
        (10, 10),
        ("10", 10),
        ("10B", 10),
        ("10b", 10),
        ("1kB", 1000),
        ("1KB", 1000),
        ("1 MB", 10**6),
        ("1gb", 10**9),
        ("1KiB", 1024),
        ("1kib", 1024),
        ("1MiB", 1024**2),
        ("1GiB", 1024**3),
        ("1.5GB", 1_500_000_000),
        ("0.5KiB", 512),
        ("0.001TB", 10**9),
        ("0.001TiB", 1024**4 // 1000),
        ("1.0000001kB", 1000),
    ],
)
def test_sizes_are_read(root, size, bytes_):
    answer = root.create(maxOneVersionSize=size)

    assert answer.json["collection"]["max_one_backup_version_size"] == bytes_


@with_settings(backup__one_version_max_size="0", backup__collection_max_size="0")
@pytest.mark.parametrize("size", [2**63 - 1, str(2**63 - 1), "9223372036854775807B"])
def test_a_size_goes_up_to_63_bits(root, size):
    answer = root.create(maxOneVersionSize=size)

    assert answer.json["collection"]["max_one_backup_version_size"] == 2**63 - 1


@pytest.mark.parametrize("field", [ONE, TOTAL])
@pytest.mark.parametrize(
    "size",
    [
        "5 parsecs",
        "",
        " ",
        "GB",
        "1,5GB",
        "1.5.5GB",
        "1e5",
        "0x10",
        "1 0",
        " 10",
        "10GB\n",
        "10\nGB",
        "10  GB",
        "10 ",
        "10XB",
        "1PB",
        "NaN",
    ]
    + [2**63, str(2**63), "9223373TB", 1.5, True, [], {}, "\u0661", "1" * 5000, "--1"],
)
def test_other_sizes_are_refused(root, field, size):
    answer = root.create(**{field: size})

    assert refusal(answer) == (400, "Form validation error", 400, {field: "cannot_parse_disk_space_check_format"})


@pytest.mark.parametrize("count", ["a", "", "1.5", 1.5, True, [], {}, "1e3", 10**30, "5MB", " 1"])
def test_a_count_is_a_whole_number(root, count):
    answer = root.create(maxBackupsCount=count)

    assert refusal(answer) == (400, "Form validation error", 400, {COUNT: "expected_int_type"})


@pytest.mark.parametrize("field", [COUNT, ONE, TOTAL])
@pytest.mark.parametrize("value", [-1, "-1"])
def test_no_limit_is_negative(root, field, value):
    answer = root.create(**{field: value})

    assert refusal(answer) == (400, "Form validation error", 400, {field: "number_cannot_be_negative_value"})


@pytest.mark.parametrize("strategy", ["", "nothing", "DELETE_OLDEST_WHEN_ADDING_NEW", "x" * 1000])
def test_an_unknown_strategy_is_answered_with_the_known_ones(root, strategy):
    answer = root.create(strategy=strategy)

    assert refusal(answer) == (400, "Form validation error", 400, {"strategy": STRATEGIES})


@pytest.mark.parametrize("strategy", ["delete_oldest_when_adding_new", "alert_when_backup_limit_reached"])
def test_both_strategies_can_be_had(root, strategy):
    answer = root.create(strategy=strategy)

    assert answer.json["collection"]["strategy"] == strategy


@pytest.mark.parametrize("filename", ["", "a/b", "..", "a" * 201, "\0", " a"])
def test_the_file_name_follows_the_rule_of_uploads(root, filename):
    answer = root.create(filename=filename)

    expected = {"filename": "File name is not valid, please normalize it"}
    assert refusal(answer) == (400, "Form validation error", 400, expected)


def test_a_refused_form_carries_the_whole_envelope(root):
    answer = root.create(maxBackupsCount=-1)

    assert answer.json == {
        "status": "Form validation error",
        "error_code": 400,
        "http_code": 400,
        "exit_code": 400,
        "errors": {COUNT: "number_cannot_be_negative_value"},
        "collection": None,
        "context": None,
        "fields": {f"form.{COUNT}": ["number_cannot_be_negative_value"]},
    }


@pytest.mark.parametrize("description", ["a\0b", "\0", "x" * 1025])
def test_a_description_is_text_that_every_database_keeps(root, description):
    answer = root.create(description=description)

    assert (answer.status_int, set(answer.json["fields"])) == (400, {"form.description"})


def test_a_description_may_have_lines(root):
    answer = root.create(description="one\ntwo \N{SNOWMAN}")

    assert answer.json["collection"]["description"] == "one\ntwo \N{SNOWMAN}"


def test_unknown_fields_are_refused(root):
    answer = root.create(x=1)

    assert answer.json["fields"] == {"form": ['This request does not support extra parameters such as "x"']}


CEILINGS = with_settings(backup__max_versions="5")


@CEILINGS
@pytest.mark.parametrize(
    ("form", "code", "field", "text", "context"),
    [
        ({COUNT: 6}, 4000, COUNT, "max_backups_count_too_many", {"max": 5}),
        ({ONE: 4_000_000_001}, 4002, ONE, "max_one_version_size_too_big", {"max": "4.00GB"}),
        ({TOTAL: "16GB"}, 4001, TOTAL, "max_collection_size_too_big", {"max": "15.00GB"}),
        ({TOTAL: "1GB"}, 4003, TOTAL, "max_collection_size_is_lower_than_single_element_size", None),
        ({ONE: 11, TOTAL: 10}, 4003, TOTAL, "max_collection_size_is_lower_than_single_element_size", None),
        (
            {COUNT: 5, ONE: "5MB", TOTAL: "20MB"},
            4003,
            TOTAL,
            "max_collection_size_will_have_not_enough_space_to_keep_max_number_of_items",
            {"needsAtLeastValue": "25.00MB"},
        ),
        ({"id": "x"}, 4011, "id", "custom_id_is_not_uuid_format", None),
        ({"id": str(uuid.UUID(int=1))}, 4011, "id", "custom_id_is_not_uuid_format", None),
    ],
)
def test_a_broken_rule_has_its_code_text_and_context(root, form, code, field, text, context):
    answer = root.create(**form)

    assert (refusal(answer), answer.json["context"], answer.json["collection"]) == (
        (400, "Logic validation error", code, {field: text}),
        context,
        None,
    )


@CEILINGS
@pytest.mark.parametrize(
    "form", [{COUNT: 5}, {ONE: "4GB"}, {TOTAL: "15GB"}, SMALL, {COUNT: 5, TOTAL: "4GB"}, {ONE: 10, TOTAL: 10}]
)
def test_up_to_the_ceilings_all_is_fine(root, form):
    answer = root.create(**form)

    assert answer.status_int == 202


@with_settings(backup__max_versions="0", backup__one_version_max_size="0", backup__collection_max_size="0")
def test_a_ceiling_of_zero_is_none(root):
    answer = root.create(maxBackupsCount=10**9, maxOneVersionSize="100TB", maxCollectionSize=2**63 - 1)

    assert answer.json["error_code"] == 4003


@with_settings(backup__max_versions="0", backup__one_version_max_size="0", backup__collection_max_size="0")
def test_without_ceilings_limits_may_be_large(root):
    answer = root.create(maxBackupsCount=10**9, maxOneVersionSize=10**9, maxCollectionSize=10**18)

    assert answer.status_int == 202


def test_an_id_can_be_chosen(root):
    answer = root.create(id=CHOSEN.upper())

    assert answer.json["collection"]["id"] == CHOSEN


def test_choosing_an_id_needs_its_role(holder):
    answer = holder(Role.CREATE_COLLECTIONS).create(id=CHOSEN)

    assert answer.status_int == 403


def test_the_role_chooses_an_id(holder):
    answer = holder(Role.CREATE_COLLECTIONS, Role.CHOOSE_COLLECTION_IDS).create(id=CHOSEN)

    assert answer.status_int == 202


@pytest.mark.parametrize("again", [CHOSEN, CHOSEN.upper()])
def test_a_taken_id_is_refused(root, again):
    root.create(id=CHOSEN)
    answer = root.create(id=again)

    assert (answer.status_int, answer.json["fields"]) == (400, {"id": ["id_not_unique"]})


def test_simulated_creation_answers_the_same(root):
    bodies = [root.create(query, id=CHOSEN, **SMALL).json for query in ({"simulate": "true"}, {})]
    for body in bodies:
        del body["collection"]["created_at"]

    assert bodies[0] == bodies[1]


def test_simulated_creation_makes_nothing(root):
    root.create({"simulate": "true"}, id=CHOSEN)

    assert root.get(f"{COLLECTIONS}/{CHOSEN}").json["fields"] == GONE


def test_simulated_creation_is_checked_too(root):
    root.create(id=CHOSEN)
    answers = [root.create({"simulate": "1"}, **form).status_int for form in ({"id": CHOSEN}, {COUNT: -1})]

    assert answers == [400, 400]


def test_the_creators_token_is_on_the_list(holder):
    creator = holder(Role.CREATE_COLLECTIONS)
    made = creator.create().json["collection"]["id"]

    assert creator.get(f"{COLLECTIONS}/{made}").status_int == 200


def test_a_fetched_collection_is_what_was_created(root):
    made = root.create(**SMALL).json["collection"]
    answer = root.get(f"{COLLECTIONS}/{made['id'].upper()}")

    assert answer.status_int == 200
    assert answer.json == {
        "status": "OK",
        "error_code": None,
        "http_code": 200,
        "exit_code": 200,
        "errors": {},
        "collection": made,
        "context": None,
    }


def test_a_collection_tells_neither_password_nor_tokens(root):
    made = root.create(password="hidden").json["collection"]
    answer = root.get(f"{COLLECTIONS}/{made['id']}")

    assert answer.json["collection"]["password_protected"] is True
    assert not any(secret in answer.text for secret in ("hidden", "argon2", root.token))


def test_a_stranger_may_not_fetch(holder, collection):
    answer = holder(Role.CREATE_COLLECTIONS).get(f"{COLLECTIONS}/{collection}")

    assert (answer.status_int, answer.json["collection"], answer.json["errors"]) == (403, None, {})


def test_a_collection_counts_what_it_holds(root, collection):
    root.push(collection, b"12345")
    root.push(collection, b"123")
    held = root.get(f"{COLLECTIONS}/{collection}").json["collection"]

    assert (held["versions_count"], held["stored_size"], held["last_version"]) == (2, 8, 2)


def test_a_deleted_collection_is_told(root, collection):
    before = root.get(f"{COLLECTIONS}/{collection}").json["collection"]
    answer = root.delete(f"{COLLECTIONS}/{collection}")

    assert answer.status_int == 200
    assert answer.json == {
        "status": "OK, collection was deleted",
        "error_code": None,
        "http_code": 200,
        "exit_code": 200,
        "errors": {},
        "collection": before,
        "context": None,
    }


def test_a_deleted_collection_is_gone(root, collection):
    root.delete(f"{COLLECTIONS}/{collection}")

    assert root.get(f"{COLLECTIONS}/{collection}").json["fields"] == GONE


@pytest.mark.parametrize("query", [{}, {"simulate": "true"}])
def test_a_collection_with_versions_is_not_deleted(root, collection, query):
    root.push(collection)
    answer = root.delete(f"{COLLECTIONS}/{collection}", query)

    expected = {"collection": "collection_cannot_be_deleted_while_it_contains_not_deleted_versions"}
    assert refusal(answer) == (400, "Logic validation error", 4005, expected)


def test_a_collection_can_be_deleted_after_its_versions(root, collection):
    root.push(collection)
    root.delete(f"{COLLECTIONS}/{collection}/backup/v1")

    assert root.delete(f"{COLLECTIONS}/{collection}").status_int == 200


def test_simulated_deletion_deletes_nothing(root, collection):
    answer = root.delete(f"{COLLECTIONS}/{collection}", {"simulate": "true"})

    assert answer.json["status"] == "OK, collection was deleted"
    assert root.get(f"{COLLECTIONS}/{collection}").status_int == 200


UNKNOWN = [
    ("GET", ""),
    ("DELETE", ""),
    ("POST", "/token"),
    ("DELETE", f"/token/{NOBODY}"),
    ("POST", "/backup"),
    ("GET", "/backup"),
    ("GET", "/backup/latest"),
    ("DELETE", "/backup/v1"),
    ("POST", "/version"),
]


@pytest.mark.parametrize(("method", "path"), UNKNOWN, ids=" ".join)
@pytest.mark.parametrize("unknown", [NOBODY, "x", "%00"])
def test_an_unknown_collection_is_told_alike_everywhere(root, method, path, unknown):
    answer = root.call(method, f"{COLLECTIONS}/{unknown}{path}")

    assert (answer.status_int, answer.json["status"], answer.json["fields"]) == (400, "Validation error", GONE)


@pytest.mark.parametrize("unknown", [NOBODY, "x", ""])
def test_an_unknown_collection_in_the_body_is_told_alike(root, unknown):
    answer = root.put(COLLECTIONS, {"collection": unknown})

    assert (answer.status_int, answer.json["fields"]) == (400, GONE)


@pytest.mark.parametrize(("method", "path"), UNKNOWN, ids=" ".join)
def test_without_a_token_no_collection_is_told_from_another(stranger, collection, method, path):
    answers = [stranger.call(method, f"{COLLECTIONS}/{each}{path}") for each in (collection, NOBODY)]

    assert [403, 403] == [answer.status_int for answer in answers]
    assert answers[0].json["status"] == answers[1].json["status"]
