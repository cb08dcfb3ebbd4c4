"""HTTP API, 4.1: the table of a collection's rules, and the fields of a request."""

import uuid

from support.answers import COUNT, ONE, SMALL, TOTAL
from support.client import COLLECTIONS, refusal, with_settings

NAMES = ("alert_when_backup_limit_reached", "delete_oldest_when_adding_new", "keep", "wal")
STRATEGIES = f"unknown_strategy_allowed___{'___or__'.join(NAMES)}"


def test_null_and_known_strategies_are_accepted(root):
    answer = root.create(maxBackupsCount=None, strategy=None, description=None, password=None, id=None)
    assert answer.status_int == 202
    for strategy in ["delete_oldest_when_adding_new", "alert_when_backup_limit_reached"]:
        assert root.create(strategy=strategy).json["collection"]["strategy"] == strategy


def test_an_unknown_strategy_is_answered_with_the_known_ones(root):
    for strategy in ["", "nothing", "DELETE_OLDEST_WHEN_ADDING_NEW", "x" * 1000]:
        answer = root.create(strategy=strategy)

        assert refusal(answer) == (400, "Form validation error", 400, {"strategy": STRATEGIES}), strategy


def test_every_wrong_field_is_named_at_once(root, collection):
    for call in ["create", "edit"]:
        wrong = {COUNT: -1, ONE: "5 parsecs", TOTAL: True, "strategy": "nothing", "filename": "a/b"}
        answer = (
            root.create(**wrong) if call == "create" else root.put(COLLECTIONS, {"collection": collection, **wrong})
        )

        errors = {
            COUNT: "number_cannot_be_negative_value",
            ONE: "cannot_parse_disk_space_check_format",
            TOTAL: "cannot_parse_disk_space_check_format",
            "strategy": STRATEGIES,
            "filename": "File name is not valid, please normalize it",
        }
        assert refusal(answer) == (400, "Form validation error", 400, errors), call


def test_the_file_name_follows_the_rule_of_uploads(root):
    for filename in ["", "a/b", "..", "a" * 201, "\0", " a"]:
        answer = root.create(filename=filename)

        expected = {"filename": "File name is not valid, please normalize it"}
        assert refusal(answer) == (400, "Form validation error", 400, expected), filename


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
        "message": "A negative number is not allowed: send 0 or more",
    }


def test_a_description_is_text_that_every_database_keeps(root):
    for description in ["a\0b", "\0", "x" * 1025]:
        answer = root.create(description=description)
        assert (answer.status_int, set(answer.json["fields"])) == (400, {"form.description"}), description

    assert root.create(description="one\ntwo \N{SNOWMAN}").json["collection"]["description"] == "one\ntwo \N{SNOWMAN}"


CEILINGS = with_settings(backup__max_versions="5")


@CEILINGS
def test_a_broken_rule_has_its_code_text_and_context(root):
    for form, code, field, text, context in [
        ({COUNT: 6}, 4000, COUNT, "max_backups_count_too_many", {"max": 5}),
        ({COUNT: 6, ONE: "5MB", TOTAL: "1MB"}, 4000, COUNT, "max_backups_count_too_many", {"max": 5}),
        ({COUNT: 6, ONE: "5MB", TOTAL: "25MB"}, 4000, COUNT, "max_backups_count_too_many", {"max": 5}),
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
    ]:
        answer = root.create(**form)

        assert (refusal(answer), answer.json["context"], answer.json["collection"]) == (
            (400, "Logic validation error", code, {field: text}),
            context,
            None,
        )


@CEILINGS
def test_limits_up_to_the_ceilings_are_accepted(root):
    for form in [{COUNT: 5}, {ONE: "4GB"}, {TOTAL: "15GB"}, SMALL, {COUNT: 5, TOTAL: "4GB"}, {ONE: 10, TOTAL: 10}]:
        assert root.create(**form).status_int == 202, form


@with_settings(backup__max_versions="0", backup__one_version_max_size="0", backup__collection_max_size="0")
def test_without_ceilings_limits_may_be_large(root):
    answer = root.create(maxBackupsCount=10**9, maxOneVersionSize="100TB", maxCollectionSize=2**63 - 1)
    assert answer.json["error_code"] == 4003
    assert root.create(maxBackupsCount=10**9, maxOneVersionSize=10**9, maxCollectionSize=10**18).status_int == 202
