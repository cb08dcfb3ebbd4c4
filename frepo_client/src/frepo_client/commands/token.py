"""`frepo-client token rotate`: replace this machine's token by a new one with the same rights."""

from __future__ import annotations

import argparse
import contextlib
import os

from ..errors import STORED, ClientError, RefusedError, UnreachableError, UsageError
from ..private_files import delete
from ..secret_file import pending_token, replace_secret
from ..state import locked
from ..texts import read_required
from .context import Context

UNAUTHORIZED = 401


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=["rotate"], help="replace the token in token_file")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Rotate the token."""
    if not context.token_file:
        raise UsageError("only a token in a file can be replaced: use token_file, --token-file or FREPO_TOKEN_FILE")
    rotate(context)
    return STORED


def is_interrupted(context: Context) -> bool:
    """Return whether a rotation was begun and got no answer."""
    return bool(context.token_file) and os.path.exists(_pending(context))


def rotate(context: Context) -> Context:
    """Replace the token, and return the context with the new one.

    The new token is in a file before it is sent, and the old one stays valid for days. So nothing is lost if the answer
    is, if the disk is full, or if the machine stops: the next run goes on with the same new token.
    """
    with locked(f"token {context.token_file}", context.reporter.fail) as is_mine:
        if not is_mine:
            raise ClientError("another process replaces the token now")
        return _rotate(context)


def _rotate(context: Context) -> Context:
    before = read_required(context.token_file, f"token_file {context.token_file}")
    new, is_repeated = pending_token(_pending(context))
    context.reporter.hide([new])
    if new == context.token:  # the file was replaced, and the machine stopped before the end
        delete(_pending(context))
        return context
    renewed = context.with_token(new)
    try:
        done = context.api_now().post("/api/v1/tokens/self/rotate", {"token": new})
    except RefusedError as error:
        if error.http_status != UNAUTHORIZED or not is_repeated:
            raise
        # The answer was lost so long ago that the old token has ended.
        done = renewed.api_now().get("/api/v1").get("token") or {}
    replace_secret(context.token_file, before.replace(context.token, new))
    delete(_pending(context))
    with contextlib.suppress(UnreachableError):
        renewed.api_now().get("/api/v1")  # its first use ends the old token a day later
    values = {name: done.get(name) for name in ("fingerprint", "replaces", "expires_at")}
    context.reporter.stored(f"The token is replaced by {values['fingerprint']}; the old one ends in a day", values)
    return renewed


def _pending(context: Context) -> str:
    return f"{os.path.realpath(context.token_file)}.new"
