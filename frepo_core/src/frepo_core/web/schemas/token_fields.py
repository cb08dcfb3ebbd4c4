"""Types of the values of tokens, which both APIs check alike."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from frepo_core.domain.mime_types import check_type
from frepo_core.domain.naming import MAX_TOKEN_NAME, check_token_name
from frepo_core.domain.network.addresses import normalize_network
from frepo_core.domain.roles import Role

from . import json_schemas
from .models import MAX_SHOWN, format_value

_ROLES = {str(role): role for role in Role}


def _role(value: Any) -> Any:
    # `Role(value)` would raise an error that contains all of a long text several times.
    if not isinstance(value, str) or value not in _ROLES:
        raise ValueError(f"Please select valid roles: {format_value(value)} is not a role, see /auth/roles")
    return _ROLES[value]


def _network(value: Any) -> Any:
    try:
        # A longer text is not a network, and Python's error would contain all of it several times.
        return normalize_network(value[:MAX_SHOWN]) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(f"{format_value(value)} is neither an address nor a network such as 10.0.0.0/8") from None


KnownRole = Annotated[Role, BeforeValidator(_role)]
Network = Annotated[str, BeforeValidator(_network), WithJsonSchema(json_schemas.NETWORK, mode="validation")]
MimeType = Annotated[
    str, Field(max_length=128), AfterValidator(check_type), WithJsonSchema(json_schemas.MIME_TYPE, mode="validation")
]
TokenName = Annotated[
    str,
    Field(max_length=4 * MAX_TOKEN_NAME),
    AfterValidator(check_token_name),
    WithJsonSchema(json_schemas.TOKEN_NAME, mode="validation"),
]
