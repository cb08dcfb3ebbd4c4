"""What schemathesis does for both APIs: it marks passwords, and records the answers."""

import json
import os
from collections import Counter
from typing import Any

import schemathesis

from support.logs.log_recorder import MARK

PASSWORDS, LONGEST_PASSWORD = ("password", "X-File-Password"), 250


def mark_passwords(part: Any) -> None:
    """Add the mark of the tests' passwords to those in a part of a request, so that the check of the logs sees them."""
    for name in PASSWORDS if isinstance(part, dict) else ():
        if isinstance(part.get(name), str) and 0 < len(part[name]) <= LONGEST_PASSWORD:
            part[name] = part[name][: LONGEST_PASSWORD - len(MARK)] + MARK


# Parameters of what the test has created, by operation: each is for one valid request.
EXISTING = json.loads(os.environ["FREPO_EXISTING"])
# How many valid requests are sent to each operation. Of the further valid ones, and of the invalid ones, only one in so
# many is sent.
ENOUGH_VALID, ONE_IN_VALID, ONE_IN = (
    int(os.environ[f"FREPO_{name}"]) for name in ("ENOUGH_VALID", "ONE_IN_VALID", "ONE_IN")
)
_valid: Counter[str] = Counter()
_invalid: Counter[str] = Counter()


def use_existing(case: Any) -> bool:
    """Send the first valid requests of an operation to what the test has created for it; return whether it did."""
    existing = EXISTING.get(case.operation.definition.raw["operationId"])
    if not existing or case.meta is None or not case.meta.generation.mode.is_positive:
        return False
    for name, value in existing.pop(0).items():
        parameters = case.path_parameters if f"{{{name}}}" in case.operation.path else case.query
        parameters[name] = value
    case.headers.pop("If-Match", None)
    return True


@schemathesis.hook
def filter_case(ctx: Any, case: Any) -> bool:
    """Keep one in `ONE_IN` of each operation's invalid requests, beginning with the first, and enough valid ones."""
    name = case.operation.label
    if case.meta is None or case.meta.generation.mode.is_positive:
        _valid[name] += 1
        return _valid[name] <= ENOUGH_VALID or _valid[name] % ONE_IN_VALID == 0
    _invalid[name] += 1
    return _invalid[name] % ONE_IN == 1 % ONE_IN


@schemathesis.hook
def map_body(ctx: Any, body: Any) -> Any:
    """Mark the passwords in a body."""
    mark_passwords(body)
    return body


@schemathesis.hook
def after_call(ctx: Any, case: Any, response: Any) -> None:
    """Record the answers, so that the test can check that every operation succeeded at least once."""
    operation = case.operation.definition.raw["operationId"]
    with open(os.environ["FREPO_SEEN"], "a") as seen:
        seen.write(json.dumps({"operation": operation, "status": response.status_code}) + "\n")
