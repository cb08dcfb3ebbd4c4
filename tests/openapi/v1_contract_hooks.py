"""Rules of /api/v1 that schemathesis does not know: why the service may refuse a request that fits its schema."""

import functools
import json
import os
import urllib.request

import schemathesis

from support.contract.common_hooks import mark_passwords, use_existing

# A schema cannot express that a cursor belongs to a list, that cron is valid, that something exists or is in use, how
# long a duration may be, or that the version is pinned.
TEXTS = (
    "This is no cursor of this list",
    "must be before the end of the report",
    "There is no engine '",
    "matches no kind of event",
    "is not a label",
    "is neither a duration nor cron",
    "is not between one minute (PT1M) and ten years",
    "Expected more than nothing and at most a hundred years",
    "is more than 366 days",
    "must be from 0 to 366 days",
    "is needed, because there is no version",
    "There is no such strategy",
    "There is no file '",
    "is one of a plug-in: choose another name",  # a check
    "has no options",  # a strategy
    "has no such option; its options: ",
    "A file name is needed: send ?name=...",  # the query or the form has it
    "This token has expired",
    "is in the past: write a time that is still to come",
    "The size of the collection is below the size of one version",
    "The collection stores more than this size now",
    "This number of versions of this size needs",
    "the version is not pinned: pin it as well",
    "is not one of the configured storages",
    "the versions themselves are in",
    "The body is no valid ",
    "The body ends before the end of its ",
    "A form is sent without it",
)
# Objects with names of any kind, for which the document has no pattern. Other texts have one.
FREE_OBJECTS = {"details", "strategy_options"}
NUL = "A text holds U+0000, which not every database keeps"
DIGEST_MISMATCH = 60007
FILE = "2cf24dba5fhello.txt"
UNKNOWN_FINGERPRINT = "3f1c9a0b7d2e"


@schemathesis.check
def refusal_of_valid_data_names_its_rule(ctx, response, case):
    """Valid data may be refused because of stored data or of the content, but never because of its form."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    answer = response.json()
    if answer["code"] == DIGEST_MISMATCH:
        return
    unknown = [wrong for wrong in answer["errors"] if not _names_a_rule(wrong["field"], wrong["message"])]
    assert answer["errors"] and not unknown, f"Valid data was refused, and no rule is named: {response.text}"


@functools.cache
def _own_fingerprint():
    """Return the fingerprint of the token that schemathesis sends."""
    about = f"{os.environ['FREPO_URL']}/api/v1"
    request = urllib.request.Request(about, headers={"X-Auth-Token": os.environ["FREPO_TOKEN"]})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["token"]["fingerprint"]


def _names_a_rule(field, message):
    if message == NUL:
        return field.partition(".")[0] in FREE_OBJECTS
    return any(text in message for text in TEXTS)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Mark passwords, and send the first valid requests of an operation to what the test has created for it."""
    for part in (case.query, case.headers, case.body if "json" in (case.media_type or "") else None):
        mark_passwords(part)
    exists = use_existing(case)
    if exists and isinstance(case.body, dict) and "file" in case.body:
        case.body["file"] = FILE
    if exists and "upload" in case.path_parameters and case.method in {"HEAD", "DELETE"}:
        case.headers["Tus-Resumable"] = "1.0.0"
    # Without its own token, schemathesis would only see 401.
    if case.method != "GET" and (case.path_parameters or {}).get("fingerprint") == _own_fingerprint():
        case.path_parameters["fingerprint"] = UNKNOWN_FINGERPRINT
