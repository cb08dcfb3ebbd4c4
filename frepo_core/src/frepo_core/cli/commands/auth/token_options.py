"""The values of the options for tokens, checked as the API checks them."""

from datetime import UTC, datetime

from frepo_core.domain import sizes
from frepo_core.domain.mime_types import check_type
from frepo_core.domain.naming import check_tag, check_token_name
from frepo_core.domain.network.addresses import normalize_network
from frepo_core.domain.roles import Role
from frepo_core.domain.token_expiry import parse_expiry, problem_with_past
from frepo_core.errors import FieldsError

from ...base import bad_value, check_length

# A script whose variable is unset passes an empty value. Ignoring it would create a token without the restriction.
EMPTY = "is empty; leave it out for no restriction"
MAX_PATTERN = 512


def words(text: str) -> list[str]:
    """Split at commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def parse_name(text: str | None) -> str | None:
    """Return the name of a token. Raises `FieldsError`."""
    try:
        return text if text is None else check_token_name(text)
    except ValueError as error:
        raise FieldsError({"--name": [str(error)]}) from None


def parse_roles(names: list[str], option: str = "--roles") -> list[Role]:
    """Return the roles with these names. Raises `FieldsError`."""
    known = {role.value: role for role in Role}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        problem = f"; unknown: {', '.join(unknown)}" if unknown else ": none is given"
        raise FieldsError({option: [f"Please select valid roles{problem}. Known: {', '.join(known)}"]})
    return [known[name] for name in names]


def parse_tags(names: list[str]) -> list[str]:
    """Return the tags in lower case. Raises `FieldsError`."""
    try:
        return [check_tag(name) for name in names]
    except ValueError as error:
        raise FieldsError({"--tags": [str(error)]}) from None


def parse_mimes(types: list[str] | None) -> list[str]:
    """Return the MIME types. Raises `FieldsError`."""
    if types == []:
        raise FieldsError({"--mimes": [EMPTY]})
    try:
        return [check_type(mime) for mime in types or ()]
    except ValueError as error:
        raise FieldsError({"--mimes": [str(error)]}) from None


def parse_expires(text: str | None, option: str = "--expires") -> str | None:
    """Return a time expression that is valid and not in the past. Raises `FieldsError`."""
    now = datetime.now(UTC)
    try:
        end = parse_expiry(text, now=now, default="never")
    except ValueError as error:
        raise bad_value(option, text, str(error)) from None
    if problem := problem_with_past(end, now=now):
        raise FieldsError({option: [problem]})
    return text


def parse_networks(texts: list[str] | None) -> list[str]:
    """Return addresses and networks in canonical form. Raises `FieldsError`."""
    if texts == []:
        raise FieldsError({"--ip-addresses": [EMPTY]})
    try:
        return [normalize_network(text) for text in texts or ()]
    except ValueError as error:
        raise FieldsError({"--ip-addresses": [f"{error}; use an address or a network, e.g. 10.0.0.0/8"]}) from None


def parse_patterns(texts: list[str]) -> list[str]:
    """Return the patterns of User-Agents. Raises `FieldsError`."""
    if "" in texts:
        raise FieldsError({"--user-agent": [EMPTY]})
    return [text for text in texts if check_length("--user-agent", text, MAX_PATTERN)]


def parse_size(text: str) -> int:
    """Return a number of bytes. Raises `FieldsError`."""
    try:
        size = sizes.parse_size(text)
    except ValueError as error:
        raise bad_value("--max-file-size", text, str(error)) from None
    if size < 0:
        raise bad_value("--max-file-size", text, "number_cannot_be_negative_value")
    return size
