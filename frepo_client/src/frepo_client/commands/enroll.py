"""`frepo-client enroll`: get this machine's token and configuration for a one-time code."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from ..configuration.file import default_file
from ..configuration.values import plain_url
from ..errors import STORED, RefusedError, UsageError
from ..private_files import delete
from ..secret_file import pending_token, write_secret
from .context import Context

GONE = 410
NEEDS_TOKEN = False
# A new database each time: into one that has the tables, no dump can be restored.
_RESTORE_TEST = """[["sh", "-ec", '''
#     dropdb --if-exists frepo_restore_test
#     createdb frepo_restore_test
#     exec psql -qX -o /dev/null -v ON_ERROR_STOP=1 frepo_restore_test''']]"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("url", metavar="URL", help="the server, https://files.example.org")
    parser.add_argument(
        "--code",
        metavar="CODE",
        default="-",
        help="the code; without it, or with -, it is read from standard input: no list of processes shows it",
    )
    parser.add_argument(
        "--ca-file",
        metavar="FILE",
        default="",
        help="the certificate of your own authority (PEM), if this machine does not know it: it is written as ca_file",
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Write the token and the configuration, each for its owner alone. A repetition after a break goes on."""
    wished = arguments.config or os.environ.get("FREPO_CLIENT_CONFIG")
    path = os.path.abspath(context.path or wished or default_file())
    token_file = os.path.abspath(_token_file(context, path))
    if os.path.exists(token_file):
        raise UsageError(
            f"{token_file} exists: this machine has a token. `token rotate` replaces it; or delete it first"
        )
    if arguments.ca_file:
        context = context.with_authority(os.path.abspath(arguments.ca_file))
    code = _read_code(arguments.code)
    context.reporter.hide([code])
    pending = f"{token_file}.new"
    token, is_repeated = pending_token(pending)
    context.reporter.hide([token])
    enrolled = _redeem(context, code, token, pending, is_repeated=is_repeated)
    if not context.path:
        write_secret(path, _configuration(context, token_file, enrolled["collections"]))
        context.reporter.say(f"{path} is written: describe the jobs there, and try them with `frepo-client check`")
    os.replace(pending, token_file)
    names = ", ".join(one["name"] for one in enrolled["collections"])
    context.reporter.stored(
        f"This machine is enrolled as {enrolled['name']}. Its token may upload to {names}", enrolled
    )
    return STORED


def _token_file(context: Context, path: str) -> str:
    """Return where the token belongs. Raises `UsageError` if an existing configuration is of another server."""
    server = context.configuration.server
    if not context.path:
        return context.token_file or os.path.join(os.path.dirname(path), "frepo-token")
    if plain_url(server.url) != context.url:
        raise UsageError(
            f"{path} exists, and is for the server {server.url or 'of no name'}: use --config for another one"
        )
    if not context.token_file:
        raise UsageError(f"{path} exists, and has no token_file in [server]: write where the token belongs")
    return context.token_file


def _read_code(given: str) -> str:
    if given != "-":
        return given
    code = getpass.getpass("Code: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not code.strip():
        raise UsageError("which code? Use --code, or write it to standard input")
    return code.strip()


def _redeem(context: Context, code: str, token: str, pending: str, *, is_repeated: bool) -> dict[str, Any]:
    """Send the code and the token; return what the server says about it. Raises `RefusedError`."""
    try:
        return context.api_now().post("/api/v1/enrolments:redeem", {"code": code, "token": token})
    except RefusedError as error:
        # An earlier run may have got the token, and lost the answer too long ago.
        if error.http_status == GONE and is_repeated and (found := _enrolled_before(context.with_token(token))):
            return found
        delete(pending)
        raise


def _enrolled_before(context: Context) -> dict[str, Any] | None:
    api = context.api_now()
    try:
        me = api.get("/api/v1").get("token") or {}
        found = [{"id": one["id"], "name": one["name"]} for one in api.collections()]
    except RefusedError:
        return None
    return {name: me.get(name) for name in ("name", "fingerprint", "expires_at")} | {"collections": found}


def _configuration(context: Context, token_file: str, collections: Sequence[dict[str, Any]]) -> str:
    """Return a configuration without jobs, with a draft of one for each collection."""
    lines = ["[server]", f"url = {_text(context.url)}", f"token_file = {_text(token_file)}"]
    if ca_file := context.configuration.server.ca_file:
        lines.append(f"ca_file = {_text(ca_file)}")
    for one in collections:
        lines += ["", f"# [job.{one['id'][:8]}]", f"# collection = {_text(one['name'])}"]
        lines += ['# recipe = "postgres"', '# database = "shop"', f"# restore_test = {_RESTORE_TEST}"]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a basic string of TOML. JSON escapes the same characters."""
    return json.dumps(value)
