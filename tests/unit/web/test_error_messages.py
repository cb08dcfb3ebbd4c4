"""Errors whose text is a code name have a plain sentence in the key `message`."""

import ast
import re
from pathlib import Path

import pytest

import frepo_core
from frepo_core.domain.roles import Role
from frepo_core.error_explanations import EXPLANATIONS, explain
from frepo_core.web.views.field_names import FIELDS
from support.answers import COUNT, NOBODY, ONE, TOTAL
from support.client import COLLECTIONS, with_settings

SOURCE = Path(frepo_core.__path__[0])
CODE_NAME = re.compile("[a-z0-9]+(_[a-z0-9]+)+(___)?")
RAISING = {"RuleError", "FieldsError", "broken", "_refusal", "_refused", "ValueError"}
NOT_V4 = "9b2ff1a2-8e2b-1d61-9d3c-8f6a3d6f1b11"
STRATEGIES = ("alert_when_backup_limit_reached", "delete_oldest_when_adding_new", "keep", "wal")
LIMITS = with_settings(backup__max_versions="5")


def code_names_in(module):
    """Return the code names that a module raises, also those in classes, constants PROBLEM and dicts of problems."""
    source = module.read_text()
    if "unknown_strategy_allowed___" in source:
        yield "unknown_strategy_allowed"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            is_raising = getattr(node.func, "id", getattr(node.func, "attr", "")) in RAISING
        else:
            names = [
                part.id for target in getattr(node, "targets", ()) for part in ast.walk(target) if hasattr(part, "id")
            ]
            is_raising = bool({"PROBLEM", "problems", "text"} & set(names)) or isinstance(node, ast.Raise)
        texts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)] if is_raising else []
        yield from (text.rstrip("_") for text in texts if isinstance(text, str) and CODE_NAME.fullmatch(text))


@pytest.mark.slow
def test_every_code_name_has_a_message():
    raised = {name for module in SOURCE.rglob("*.py") for name in code_names_in(module)}

    # Names of settings, of fields and of values in the context.
    others = {"post_install_cmd", "last_version", "expires_at", "token_expires_at", "expected_every", "exit_statuses"}
    others |= {"compact_group", "trash_keep"}
    reasons = {"overtaken"}  # of a quarantine; no error has it
    assert raised - others | reasons == EXPLANATIONS.keys()


@LIMITS
def test_a_refused_collection_has_a_plain_message(root):
    for form, message in [
        ({COUNT: -1}, "A negative number is not allowed: send 0 or more"),
        (
            {"strategy": "x"},
            explain(f"unknown_strategy_allowed___{'___or__'.join(STRATEGIES)}"),
        ),
        (
            {COUNT: 6},
            "The limit of versions is 5: delete one, or raise the limit, up to the setting backup.max_versions",
        ),
        ({ONE: "5GB"}, explain("max_one_version_size_too_big", {"max": "4.00GB"})),
        ({TOTAL: "16GB"}, explain("max_collection_size_too_big", {"max": "15.00GB"})),
        ({ONE: 11, TOTAL: 10}, explain("max_collection_size_is_lower_than_single_element_size", names=FIELDS)),
        (
            {COUNT: 5, ONE: "5MB", TOTAL: "20MB"},
            (
                "This number of versions of this size needs 25.00MB: raise maxCollectionSize, or lower one of the "
                "other limits"
            ),
        ),
        ({"id": "x"}, explain("custom_id_is_not_uuid_format")),
        ({"minRetention": "x"}, explain("expected_length_of_time_such_as_7d")),
    ]:
        assert root.create(**form).json["message"] == message


def test_a_message_about_several_fields_names_each(root):
    answer = root.create(maxBackupsCount=-1, filename="a/b")

    assert answer.json["message"] == (
        "maxBackupsCount: A negative number is not allowed: send 0 or more. "
        "filename: A file name has 1 to 200 letters, digits and spaces of any script, and "
        ". - _ + ( ) [ ] ! , @ $ ' & % # ~ =, but no space at its ends"
    )


def test_an_invalid_file_name_has_a_message_with_what_is_allowed(root):
    answer = root.create(filename="a/b")
    assert answer.json["fields"] == {"form.filename": ["File name is not valid, please normalize it"]}
    assert answer.json["message"].startswith("A file name has 1 to 200 letters")

    assert "message" not in root.create(description="x" * 10_000).json

    answer = root.post("/auth/token/generate", {"roles": ["upload.all"], "expires": "next year"})
    assert answer.json["fields"] == {"expires": ["invalid_date_format_and_not_an_expression"]}
    assert answer.json["message"] == explain("invalid_date_format_and_not_an_expression")


def test_a_full_collection_has_a_plain_message(root, make_collection):
    full = make_collection(maxBackupsCount=1, strategy="alert_when_backup_limit_reached")
    root.push(full, b"one")

    assert (
        root.push(full, b"two").json["message"]
        == "The limit of versions is 1: delete one, or raise the limit, up to the setting backup.max_versions"
    )


def test_a_refused_upload_has_a_plain_message(holder):
    for roles, more, query, reason in [
        ([Role.UPLOAD_ALL], {"tags": ["a"]}, {"tags": "b"}, "tag_not_allowed"),
        ([Role.UPLOAD_ALL, Role.UPLOAD_NO_PASSWORD], {}, {"password": "x"}, "invalid_password"),
        ([Role.UPLOAD_ALL], {}, {"fileOverwrite": "true"}, "overwrite_not_allowed"),
    ]:
        answer = holder(*roles, **more).upload(**query)

        assert (answer.status_int, answer.json["message"]) == (403, explain(reason, names=FIELDS))
        assert answer.json["status"].endswith(reason)


def test_the_first_api_names_its_own_fields():
    for name, part in [
        (
            "max_collection_size_is_lower_than_single_element_size",
            "raise maxCollectionSize, or lower maxOneVersionSize",
        ),
        ("new_version_exceeds_single_element_limit_specified_for_this_collection", "or raise maxOneVersionSize. On"),
        ("new_version_is_smaller_than_the_minimum", "is smaller than minVersionSize of the collection"),
        ("new_version_makes_collection_too_big_on_disk", "delete versions, or raise maxCollectionSize. On"),
        ("new_version_shrank_too_much", "smaller than the last ones, beyond the guard maxShrinkPercent:"),
        (
            "version_is_younger_than_the_minimal_retention",
            "is younger than minRetention of the collection: wait, or lower minRetention",
        ),
        ("overwrite_not_allowed", "leave fileOverwrite out"),
    ]:
        assert part in explain(name, names=FIELDS), name


def test_a_malformed_id_is_reported_as_not_a_uuid(root, collection):
    for malformed in ["x", NOT_V4, NOBODY[:-1], f"{{{NOBODY}}}"]:
        for method, path, status, named in [
            ("GET", "/repository/collection/{}", 400, "collection"),
            ("POST", "/repository/collection/{}/backup", 400, "collection"),
            ("GET", "/repository/collection/{collection}/backup/{}", 404, "version"),
            ("DELETE", "/repository/collection/{collection}/backup/{}", 400, "version"),
            ("DELETE", "/repository/collection/{collection}/token/{}", 400, "token"),
            ("GET", "/auth/token/{}", 404, "token"),
            ("DELETE", "/auth/token/{}", 404, "token"),
        ]:
            answers = [root.call(method, path.format(each, collection=collection)) for each in (malformed, NOBODY)]

            assert [status, status] == [answer.status_int for answer in answers]
            assert answers[0].json["status"] == answers[1].json["status"], malformed
            assert answers[0].json["message"].startswith(f"The id of the {named} is not a UUID")
            assert "UUID" not in answers[1].json.get("message", ""), malformed


def test_a_malformed_id_in_a_body_is_reported_as_not_a_uuid(root, collection):
    edited = root.put(COLLECTIONS, {"collection": "x"})
    allowed = root.post(f"{COLLECTIONS}/{collection}/token", {"token": "x"})

    assert edited.json["message"].startswith("The id of the collection is not a UUID")
    assert allowed.json["message"].startswith("The id of the token is not a UUID")
