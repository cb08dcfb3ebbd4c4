"""Types of settings that pydantic does not have, such as lists in one line, sizes and time expressions."""

import contextlib
import re
import shlex
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue
from pydantic_core import CoreSchema, core_schema

from frepo_core.domain.durations import parse_duration
from frepo_core.domain.network.addresses import parse_base_path, parse_network
from frepo_core.domain.sizes import parse_free_space, parse_size, readable_size
from frepo_core.domain.token_expiry import parse_expiry

# `Field(..., json_schema_extra=HARMLESS)`: every reader of the settings may see the value of this one.
HARMLESS: dict[str, JsonValue] = {"harmless": True}

_DOMAIN = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?", re.ASCII)


class FileMode(int):
    """The mode of files or folders. Its text is octal, such as 0640, in settings and wherever it is shown."""

    @classmethod
    def parse(cls, value: Any) -> "FileMode":
        """Return the mode. A text has octal digits. Raises `ValueError`."""
        problem = "write octal digits, such as 0640"
        try:
            mode = int(value, 8) if isinstance(value, str) else int(value)
        except ValueError as error:
            raise ValueError(problem) from error
        if not 0 <= mode <= 0o7777:
            raise ValueError(problem)
        return cls(mode)

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        """Let models have fields of this type."""
        return core_schema.no_info_plain_validator_function(cls.parse)

    def __str__(self) -> str:
        return f"{self:04o}"


# Bytes a second. A limit below this is a typing error, such as a unit that was forgotten.
MIN_RATE = 100_000


def _split(value: Any) -> Any:
    """Split a text at commas and white space, including line ends."""
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def _lines(value: Any) -> Any:
    """Split a text at line ends and semicolons, for lists whose entries contain spaces."""
    if not isinstance(value, str):
        return value
    return tuple(line.strip() for line in value.replace(";", "\n").splitlines() if line.strip())


def _networks(value: Any) -> Any:
    return tuple(parse_network(text) for text in _split(value))


def _size(value: Any) -> Any:
    try:
        return parse_size(value)
    except ValueError as error:
        raise ValueError("write bytes, or a size such as 500MB or 4GiB") from error


def _rate(value: int) -> int:
    if 0 < value < MIN_RATE:
        raise ValueError(
            f"{readable_size(value)} a second is so slow that nothing gets done: write at least 100kB, or 0 for no "
            "limit"
        )
    return value


def _free_space(value: str) -> str:
    try:
        parse_free_space(value)
    except ValueError as error:
        raise ValueError("write a percentage such as 10%, or a size such as 50GB") from error
    return value


def _expression(value: str) -> str:
    try:
        parse_expiry(value, now=datetime(2000, 1, 1, tzinfo=UTC), default=value)
    except ValueError as error:
        raise ValueError("write 'never', or a time such as '+30 minutes'") from error
    return value


def _location(value: str) -> str:
    with contextlib.suppress(ValueError):
        location = parse_base_path(value)
        if location or not value:
            return location
    raise ValueError("write a path of letters, digits, dots, dashes and underscores, such as /_blobs")


def _domain(value: str) -> str:
    if value and not _DOMAIN.fullmatch(value):
        raise ValueError("write a host name, and a port where it has one, such as files.example.org:8443")
    return value


def _origins(value: Any) -> Any:
    """Check origins as browsers send them (RFC 6454, 6.2): scheme, host in lower case, and an unusual port."""
    for origin in _split(value):
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"{origin!r} is not an origin: write scheme and host in lower case, such as https://ops.example.org"
            )
    return _split(value)


def _command_line(value: str) -> str:
    try:
        shlex.split(value)
    except ValueError as error:
        raise ValueError(f"write a command with its arguments, quoted as in a shell: {error}") from error
    return value


def _duration(value: Any) -> Any:
    """Parse a text such as `7d`. pydantic reads that of ISO 8601, as which it writes durations to JSON."""
    return parse_duration(value) if isinstance(value, str) and not value.startswith("P") else value


CommandLine = Annotated[str, AfterValidator(_command_line)]
Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
Lines = Annotated[tuple[str, ...], BeforeValidator(_lines)]
Origins = Annotated[tuple[str, ...], BeforeValidator(_origins)]
Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(_networks)]
FreeSpace = Annotated[str, AfterValidator(_free_space)]
Size = Annotated[int, BeforeValidator(_size), Field(ge=0)]
Rate = Annotated[Size, AfterValidator(_rate)]
Expression = Annotated[str, BeforeValidator(_expression)]
Domain = Annotated[str, AfterValidator(_domain)]
# Seconds. The maximum of a year avoids overflows in system calls.
Seconds = Annotated[float, Field(gt=0, le=365 * 86400)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
Location = Annotated[str, AfterValidator(_location)]
BasePath = Annotated[str, AfterValidator(parse_base_path)]
