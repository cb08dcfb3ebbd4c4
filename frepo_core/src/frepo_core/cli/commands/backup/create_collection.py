"""The command that creates a collection, and a token that can upload to it."""

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from frepo_core.domain.sizes import readable_size
from frepo_core.domain.token_expiry import format_expiry
from frepo_core.errors import FieldsError

from ...base import check_id
from ...columns import CountLimit, Moment, SizeLimit
from ...limit_options import add_expectation, add_numbers, read_change
from ...outcomes import ActionCommand, Outcome, keep_long_options
from ...service_address import LOCAL, address_of
from ...terminal import read_password
from ..auth.token_options import parse_expires

if TYPE_CHECKING:
    from frepo_core.services.backups.collections.collection_with_token import CollectionWithToken
    from frepo_core.services.backups.rows.collection_change import CollectionChange
    from frepo_core.services.composition.container import Services

# Where the cron line expects the header with the token; no other user may read it.
TOKEN_FILE = "/etc/frepo/token.header"
# Prints the answer, and fails unless its status is 201.
_IS_STORED = "awk '1; /^HTTP[^ ]* 201/ {ok = 1} END {exit !ok}'"
FORMATS = {"json", "yaml", "csv"}


class CreateCollection(ActionCommand):
    """Create a collection; print its id. With --token-name, make a token for it, too, and print the line for cron."""

    examples = (
        "frepo backup:create-collection -f db.sql -b 7 --min-version-size 1kB",
        "frepo backup:create-collection -f db.sql -b 7 --token-name db7 --url https://files.example.org",
        "frepo backup:create-collection --filename db.sql --token-name db7 --format json",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the options. They match the fields of the API."""
        keep_long_options(parser)
        parser.add_argument("-d", "--description", default="", help="a description for people")
        parser.add_argument("-f", "--filename", required=True, help="the file name of its versions, e.g. db.sql")
        add_numbers(parser)
        add_expectation(parser)
        parser.add_argument("-s", "--strategy", help="the strategy for a full collection; `frepo plugins` lists all")
        parser.add_argument("--strategy-options", metavar="JSON", help="options of the strategy, e.g. '{\"days\": 30}'")
        parser.add_argument("-p", "--password", help="password for new versions; -: read it from stdin")
        parser.add_argument("--id", help="a UUIDv4; default: a random one")
        parser.add_argument(
            "--ignore-error-if-exists", action="store_true", help="exit with 0 if the --id exists already"
        )
        _add_access(parser)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Create the collection, or find the existing one."""
        if arguments.filename in FORMATS:
            raise FieldsError(
                {"--filename": [f"-f is the file name: write --format {arguments.filename} for the format"]}
            )
        change = read_change(arguments, password=read_password(arguments.password, self.app.stdin))
        change = replace(change, id=check_id(arguments.id))
        services = self.services()
        made = services.collections_with_tokens.make(
            change,
            token_name=arguments.token_name,
            expires=parse_expires(arguments.token_expires, "--token-expires"),
            allow=arguments.allow,
            may_exist=arguments.ignore_error_if_exists,
        )
        if made.is_new and self.app.stderr.isatty():
            self._warn_of_others(services, made.collection.filename)
        address = arguments.url or address_of(services.settings)
        is_for_shell = arguments.token_name is not None and not self.is_verbose
        if self.app.stderr.isatty() and not (is_for_shell and self.app.stdout.isatty()):
            self.app.stderr.write(f"{_limits(made)}\n")
        if not is_for_shell:
            text = self.answer_text(made.collection.id, form=_form(change), response=_response(made))
        else:
            text = "\n".join(_shell_lines(made, address))
        return Outcome(text=text, records=[_record(made, address)])

    def _warn_of_others(self, services: "Services", name: str) -> None:
        """Say if commands cannot find the collection by its name: others have it, too, or it looks like an id."""
        try:
            services.collections.find(name)
        except FieldsError as error:
            remedy = f". {error.remedy}" if error.remedy else ""
            text = f"commands cannot find this collection by its name {name!r}, give them its id{remedy}"
            self.app.stderr.write(f"Warning: {text}\n")


def _add_access(parser: argparse.ArgumentParser) -> None:
    """Add the options about tokens."""
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="TOKEN",
        help="the fingerprint or the id of a token that may use the collection, too; may be repeated",
    )
    parser.add_argument(
        "--token-name",
        metavar="NAME",
        help="make a token that can upload to this collection and list its versions; print variables for a shell",
    )
    parser.add_argument(
        "--token-expires",
        default="never",
        metavar="WHEN",
        help="when the new token ends, e.g. '+1 year'; default: never",
    )
    parser.add_argument(
        "--url", help=f"the address of the service in the printed lines; default: that of app.domain, else {LOCAL}"
    )


def _form(change: "CollectionChange") -> dict[str, Any]:
    """Return the request as `/api/v1` accepts it, without the password."""
    return {
        "name": change.filename,
        "description": change.description,
        "strategy": change.strategy,
        **({"strategy_options": dict(change.strategy_options)} if change.strategy_options is not None else {}),
        **({"storage": change.storage} if change.storage else {}),
        **({"mirror": change.mirror} if change.mirror else {}),
        **({"compact_group": change.compact_group} if change.compact_group else {}),
        "id": change.id,
        "limits": dict(change.limits),
        "guards": {name: str(value) for name, value in change.guards.items()},
    }


def _response(made: "CollectionWithToken") -> dict[str, Any]:
    answer: dict[str, Any] = {"collection": {"id": made.collection.id}}
    if made.token:
        ends = format_expiry(made.token.expires_at)
        answer["token"] = {"id": made.token.id, "fingerprint": made.token.fingerprint, "expires": ends}
    return answer


def _limits(made: "CollectionWithToken") -> str:
    """Return a sentence about the limits of the collection, most of which are usually those of the settings."""
    limits = made.collection.limits
    count = f"at most {limits.versions}" if limits.versions else "any number of"
    one, total = (
        f"at most {readable_size(size)}" if size else "of any size" for size in (limits.version_size, limits.total_size)
    )
    return (
        f"The collection keeps {count} versions, each {one}, all together {total}. "
        f"`frepo backup:edit {made.collection.id} -o 0` lifts the limit for the size of one version"
    )


def _shell_lines(made: "CollectionWithToken", address: str) -> Iterator[str]:
    """Yield assignments for `eval`, and comments with the line for cron, which has the token in no argument."""
    url = upload_url(made.collection.id, address)
    yield f"COLLECTION={made.collection.id}"
    yield f"URL={shlex.quote(url)}"
    if made.token:
        yield f"TOKEN={made.token.id}"
        yield f"# The token {made.fingerprint} is shown only once. On the client, keep it where only root can read it:"
        yield f"#   echo 'X-Auth-Token: {made.token.id}' | install -D -m 600 /dev/stdin {TOKEN_FILE}"
        yield f"# {_limits(made)}"
    else:
        token = made.fingerprint
        yield f"# The collection has the token {token} already; `frepo auth:revoke {token}` revokes it"
    yield (
        "# The line for /etc/cron.d, with your own command instead of DUMP. "
        "Never add --retry: a second attempt would begin\n# in the middle of the dump, and would be stored. With "
        "Content-Encoding, the service stores the dump as it was\n# before gzip: only so it can be compacted."
    )
    yield f"#   {cron_line(url)}"
    yield "# Or with frepo-client, which stores nothing if DUMP fails, and compresses on the way by itself:"
    yield f"#   {_client_line(made, address)}"


def _record(made: "CollectionWithToken", address: str) -> dict[str, Any]:
    """Return what was made. The token's id is null if no token was made."""
    url = upload_url(made.collection.id, address)
    return {
        "collection": made.collection.id,
        "created": made.is_new,
        "url": url,
        "token": made.token.id if made.token else None,
        "fingerprint": made.fingerprint,
        "expires_at": Moment(made.token.expires_at if made.token else None),
        "cron": cron_line(url) if made.fingerprint else None,
        "max_backups_count": CountLimit(made.collection.limits.versions),
        "max_one_version_size": SizeLimit(made.collection.limits.version_size),
        "max_collection_size": SizeLimit(made.collection.limits.total_size),
    }


def upload_url(collection_id: str, address: str) -> str:
    """Return where versions are uploaded."""
    return f"{address.rstrip('/')}/api/v1/collections/{collection_id}/versions"


def _client_line(made: "CollectionWithToken", address: str) -> str:
    """Return the line for cron with `frepo-client`, where docs/client.md installs it."""
    options = f"--url {shlex.quote(address.rstrip('/'))} --token-file {TOKEN_FILE}"
    return f"0 2 * * * root /usr/local/bin/frepo-client {options} pipe {made.collection.id} -- DUMP"


def cron_line(url: str) -> str:
    """Return the line for cron. The token is in a file, because the list of processes shows arguments.

    Without --retry: the second attempt to send a pipe begins in the middle of it. It fails unless the status is 201: a
    redirect is no error for curl. It has no percent sign, which would be a line end for cron.
    """
    headers = f"-H @{TOKEN_FILE} -H 'Content-Encoding: gzip'"
    return f"0 2 * * * root DUMP | gzip | curl --fail-with-body -isS {headers} -T - {shlex.quote(url)} | {_IS_STORED}"
