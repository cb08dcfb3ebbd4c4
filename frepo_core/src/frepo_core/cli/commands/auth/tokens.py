"""Commands for tokens."""

import argparse
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from frepo_core.domain.expiry import format_expiry, parse_expiry
from frepo_core.domain.identity import Identity
from frepo_core.domain.mime_types import check_type
from frepo_core.domain.naming import check_tag
from frepo_core.domain.network.addresses import normalize_network
from frepo_core.domain.roles import Role
from frepo_core.domain.sizes import parse_size
from frepo_core.errors import FieldsError

from ...base import FrepoCommand, bad_value, check_id, check_length

if TYPE_CHECKING:
    from frepo_core.services.access.tokens import IssuedToken, NewToken, Tokens

# A script whose variable is unset passes an empty value. Ignoring it would create a token without the restriction.
EMPTY = "is empty; leave it out for no restriction"


def words(text: str) -> list[str]:
    """Split at commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


class TokenCommand(FrepoCommand):
    """A command that only uses the token service."""

    def tokens(self) -> "Tokens":
        """Return the token service."""
        return self.services().tokens


class GenerateAdminToken(TokenCommand):
    """Generate an administrator token that never expires; print its id."""

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Generate the token."""
        from frepo_core.services.access.tokens import NewToken

        new = NewToken(roles=[Role.ADMINISTRATOR], expires="never")
        issued = self.tokens().generate(new)
        self.answer(issued.id, form=_form(new), response=_response(issued.id, issued))


class CreateToken(TokenCommand):
    """Create a token; print its id."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options. They match the fields of the API."""
        parser = super().get_parser(prog_name)
        parser.epilog = f"Roles: {', '.join(Role)}."
        parser.add_argument("--roles", type=words, required=True, help="roles, separated by commas")
        parser.add_argument("--tags", type=words, default=[], help="tags that the token is restricted to")
        parser.add_argument("--mimes", type=words, help="MIME types that the token may upload, e.g. image/png")
        parser.add_argument("--max-file-size", default="0", metavar="SIZE", help="e.g. 500MB; 0: no limit")
        parser.add_argument("--ip-addresses", type=words, help="addresses and networks from which it may be used")
        parser.add_argument(
            "--user-agent",
            action="append",
            default=[],
            metavar="PATTERN",
            help="a User-Agent that may use it; `*` matches any text; may be repeated",
        )
        parser.add_argument("--expires", help="'never', '+30 minutes', '2030-01-01 12:00:00'; default: the setting")
        parser.add_argument("--id", help="a UUIDv4; default: a random one")
        parser.add_argument(
            "--ignore-error-if-token-exists", action="store_true", help="exit with 0 if the --id exists already"
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Create the token, or find the existing one."""
        from frepo_core.services.access.tokens import NewToken

        new = NewToken(
            roles=_roles(arguments.roles),
            tags=_tags(arguments.tags),
            mimes=_mimes(arguments.mimes),
            max_file_size=_size(arguments.max_file_size),
            user_agents=_patterns(arguments.user_agent),
            ip_addresses=_networks(arguments.ip_addresses),
            expires=_expires(arguments.expires),
            id=check_id(arguments.id),
        )
        token_id, token = _make(self.tokens(), new, arguments.ignore_error_if_token_exists)
        self.answer(token_id, form=_form(new), response=_response(token_id, token))


class RevokeToken(TokenCommand):
    """Revoke the token with this fingerprint, which the log shows."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the argument. It is a fingerprint, because the list of processes would show an id."""
        parser = super().get_parser(prog_name)
        parser.add_argument("fingerprint", metavar="FINGERPRINT", help="12 to 16 hexadecimal digits, as in the log")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Revoke the token."""
        revoked = self.tokens().revoke_by_fingerprint(arguments.fingerprint)
        self.say(f"Token {revoked.fingerprint} was revoked. Its roles were: {', '.join(sorted(revoked.roles))}")


class ClearExpiredTokens(TokenCommand):
    """Remove all expired tokens; print the fingerprint and the expiry of each."""

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Remove the tokens."""
        cleared = self.tokens().clear_expired()
        for fingerprint, end in cleared:
            self.say(f"{fingerprint} expired at {format_expiry(end)}")
        self.say(f"{len(cleared)} expired tokens were removed")


def _make(tokens: "Tokens", new: "NewToken", may_exist: bool) -> "tuple[str, IssuedToken | Identity]":
    """Return the id and the new token, or the existing token with this id."""
    try:
        issued = tokens.generate(new)
        return issued.id, issued
    except FieldsError as error:
        taken = "id_already_exists_please_select_other_one" in error.fields.get("id", [])
        if new.id is None or not (taken and may_exist):
            raise
        return new.id.lower(), tokens.look_up(new.id)


def _response(token_id: str, token: "IssuedToken | Identity") -> dict[str, Any]:
    """Return the answer as the API returns it."""
    return {"tokenId": token_id, "fingerprint": token.fingerprint, "expires": format_expiry(token.expires_at)}


def _form(new: "NewToken") -> dict[str, Any]:
    """Return the request as the API accepts it."""
    return {
        "roles": sorted(new.roles),
        "data": {
            "tags": new.tags,
            "allowedMimeTypes": new.mimes,
            "maxAllowedFileSize": new.max_file_size,
            "allowedUserAgents": new.user_agents,
            "allowedIpAddresses": new.ip_addresses,
        },
        "expires": new.expires,
        "id": new.id,
    }


def _roles(names: list[str]) -> list[Role]:
    known = {role.value: role for role in Role}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        problem = f"; unknown: {', '.join(unknown)}" if unknown else ": none is given"
        raise FieldsError({"--roles": [f"Please select valid roles{problem}. Known: {', '.join(known)}"]})
    return [known[name] for name in names]


def _tags(names: list[str]) -> list[str]:
    try:
        return [check_tag(name) for name in names]
    except ValueError as error:
        raise FieldsError({"--tags": [str(error)]}) from None


def _mimes(types: list[str] | None) -> list[str]:
    if types == []:
        raise FieldsError({"--mimes": [EMPTY]})
    try:
        return [check_type(mime) for mime in types or ()]
    except ValueError as error:
        raise FieldsError({"--mimes": [str(error)]}) from None


def _expires(text: str | None) -> str | None:
    try:
        parse_expiry(text, now=datetime.now(UTC), default="never")
    except ValueError as error:
        raise bad_value("--expires", text, str(error)) from None
    return text


def _networks(texts: list[str] | None) -> list[str]:
    if texts == []:
        raise FieldsError({"--ip-addresses": [EMPTY]})
    try:
        return [normalize_network(text) for text in texts or ()]
    except ValueError as error:
        raise FieldsError({"--ip-addresses": [f"{error}; use an address or a network, e.g. 10.0.0.0/8"]}) from None


def _patterns(texts: list[str]) -> list[str]:
    if "" in texts:
        raise FieldsError({"--user-agent": [EMPTY]})
    return [text for text in texts if check_length("--user-agent", text, 512)]


def _size(text: str) -> int:
    try:
        size = parse_size(text)
    except ValueError as error:
        raise bad_value("--max-file-size", text, str(error)) from None
    if size < 0:
        raise bad_value("--max-file-size", text, "number_cannot_be_negative_value")
    return size
