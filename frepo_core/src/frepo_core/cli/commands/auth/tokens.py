"""Commands for tokens."""

import argparse
from typing import TYPE_CHECKING, Any

from frepo_core.domain.identity import Identity
from frepo_core.domain.roles import Role
from frepo_core.domain.token_expiry import format_expiry
from frepo_core.errors import FieldsError

from ...base import FrepoCommand, check_id
from ...columns import Moment
from ...outcomes import ActionCommand, ActionsCommand, Outcome
from .token_options import (
    parse_expires,
    parse_mimes,
    parse_name,
    parse_networks,
    parse_patterns,
    parse_roles,
    parse_size,
    parse_tags,
    words,
)

if TYPE_CHECKING:
    from frepo_core.services.access.tokens import IssuedToken, NewToken, Tokens


class TokenCommand(FrepoCommand):
    """A command that only uses the token service."""

    def tokens(self) -> "Tokens":
        """Return the token service."""
        return self.services().tokens


class GenerateAdminToken(TokenCommand, ActionCommand):
    """Generate an administrator token that never expires; print its id."""

    examples = ("frepo auth:generate-admin-token --name 'the console of Ann'",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        meaning = "what people call the token, e.g. its holder; default: administrator"
        parser.add_argument("--name", default="administrator", help=meaning)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        from frepo_core.services.access.tokens import NewToken

        new = NewToken(roles=[Role.ADMINISTRATOR], expires="never", name=parse_name(arguments.name))
        issued = self.tokens().generate(new)
        return _outcome(self, new, issued.id, issued)


class CreateToken(TokenCommand, ActionCommand):
    """Create a token; print its id."""

    examples = ("frepo auth:create-token --roles upload.images,view.any_file --expires '+30 days'",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the options. They match the fields of the API."""
        parser.description = f"{parser.description} The roles: {', '.join(Role)}."
        parser.add_argument("--roles", type=words, required=True, help="roles, separated by commas")
        parser.add_argument("--name", help="what people call the token, e.g. the name of its server")
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

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Create the token, or find the existing one."""
        from frepo_core.services.access.tokens import NewToken

        new = NewToken(
            roles=parse_roles(arguments.roles),
            tags=parse_tags(arguments.tags),
            mimes=parse_mimes(arguments.mimes),
            max_file_size=parse_size(arguments.max_file_size),
            user_agents=parse_patterns(arguments.user_agent),
            ip_addresses=parse_networks(arguments.ip_addresses),
            expires=parse_expires(arguments.expires),
            id=check_id(arguments.id),
            name=parse_name(arguments.name),
        )
        token_id, token = _make(self.tokens(), new, arguments.ignore_error_if_token_exists)
        return _outcome(self, new, token_id, token)


class ClearExpiredTokens(TokenCommand, ActionsCommand):
    """Remove all expired tokens; print the fingerprint and the expiry of each."""

    examples = ("frepo auth:clear-expired-tokens",)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        cleared = self.tokens().clear_expired()
        lines = [f"{fingerprint} expired at {format_expiry(end)}" for fingerprint, end in cleared]
        records = [{"fingerprint": fingerprint, "expired_at": Moment(end)} for fingerprint, end in cleared]
        text = "\n".join([*lines, f"{len(cleared)} expired tokens were removed"])
        return Outcome(text=text, records=records, names=("fingerprint", "expired_at"))


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


def _outcome(command: FrepoCommand, new: "NewToken", token_id: str, token: "IssuedToken | Identity") -> Outcome:
    text = command.answer_text(token_id, form=_form(new), response=_response(token_id, token))
    record = {"id": token_id, "fingerprint": token.fingerprint, "expires_at": Moment(token.expires_at)}
    return Outcome(text=text, records=[record])


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
        **({"name": new.name} if new.name else {}),
    }
