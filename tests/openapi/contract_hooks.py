"""Rules of the contract that schemathesis does not know: why the service may refuse a request that fits its schema."""

import os

import schemathesis

from frepo_core.web.schemas import json_schemas
from support.contract.common_hooks import mark_passwords, use_existing

RULES = {3000, 3001, *range(4000, 4015), *range(60003, 60009)}
KEPT = {"2cf24dba5fhello.txt": "486ea46224world.txt", json_schemas.A_TOKEN: json_schemas.A_REVOKED_TOKEN}
TEXTS = (
    "is not one of the configured storages",
    "the versions themselves are in",
    "collection_no_longer_exists",
    "token_not_found",
    "version_no_longer_exists",
    "version_collection_mismatch",
    "id_already_exists_please_select_other_one",
    "id_not_unique",
    "unknown_strategy_allowed___",
    "A file name is needed",
    "base64",
    "This file belongs to a version",
)


@schemathesis.check
def refusal_of_valid_data_names_its_rule(ctx, response, case):
    """Valid data may be refused because of stored data or of the content, but never because of its form."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    if any(f"%7B{name}%7D" in response.request.url for name in ("name", "type", "collection", "version", "token")):
        return  # schemathesis sent the template itself, because its generated link had no value for the parameter
    answer = response.json()
    known = answer["error_code"] in RULES or any(text in response.text for text in TEXTS)
    assert known, f"Valid data was refused, and no rule of the contract is named: {response.text}"


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Replace valid URLs with the URL of a file of the service; do not delete data that other requests read."""
    for part in (case.query, case.headers, case.body if case.media_type == "application/json" else None):
        mark_passwords(part)
    if use_existing(case):
        return
    is_valid = case.meta is not None and case.meta.generation.mode.is_positive
    if is_valid and case.operation.path.endswith("/add-by-url") and isinstance(case.body, dict):
        case.body["fileUrl"] = os.environ["FREPO_URL"] + "/repository/file/2cf24dba5fhello.txt"
    if case.operation.method.upper() == "DELETE" and "collection" not in case.path:
        case.path_parameters = {name: KEPT.get(value, value) for name, value in (case.path_parameters or {}).items()}
