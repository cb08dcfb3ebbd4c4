"""Rules of /api/v1 that schemathesis does not know: why the service may refuse a request that fits its schema."""

import schemathesis

from support.contract.common_hooks import mark_passwords, use_existing

# A schema cannot express that a cursor belongs to a list, that cron is valid, or that something exists or is in use.
TEXTS = (
    "This is no cursor of this list",
    "matches no kind of event",
    "is not a label",
    "is neither a duration nor cron",
    "is needed, because there is no version",
    "There is no such strategy",
    "There is no file with this stored name",
)
DIGEST_MISMATCH = 60007
FILE = "2cf24dba5fhello.txt"


@schemathesis.check
def refusal_of_valid_data_names_its_rule(ctx, response, case):
    """Valid data may be refused because of stored data or of the content, but never because of its form."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    answer = response.json()
    if answer["code"] == DIGEST_MISMATCH:
        return
    unknown = [wrong for wrong in answer["errors"] if not any(text in wrong["message"] for text in TEXTS)]
    assert answer["errors"] and not unknown, f"Valid data was refused, and no rule is named: {response.text}"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Mark passwords, and send the first valid requests of an operation to what the test has created for it."""
    for part in (case.query, case.headers, case.body if "json" in (case.media_type or "") else None):
        mark_passwords(part)
    if use_existing(case) and isinstance(case.body, dict) and "file" in case.body:
        case.body["file"] = FILE
