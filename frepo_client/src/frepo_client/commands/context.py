"""What a command works with: the configuration, the server, and the reporter."""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass, replace

from ..configuration.file import Configuration, Options, find_file, read_file
from ..configuration.values import duration, plain_url
from ..errors import UsageError
from ..reporter import Reporter
from ..server.api import Api
from ..server.connection import Connection
from ..server.retry import Retry
from ..texts import read_required

_A_MOMENT = 5.0
_UUID = re.compile(r"\s*[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\s*$", re.IGNORECASE)


@dataclass(frozen=True)
class Context:
    """The world of one command. `patience` is how long a person waits, in seconds, if --retry does not say more."""

    configuration: Configuration
    reporter: Reporter
    url: str
    token: str
    token_file: str
    options: Options
    path: str
    patience: float

    @classmethod
    def of(cls, arguments: argparse.Namespace, reporter: Reporter) -> Context:
        """Build it of the command line, the environment and the file, in this order. Raises `UsageError`.

        The reporter hides the token from then on.
        """
        path = arguments.config or os.environ.get("FREPO_CLIENT_CONFIG") or find_file()
        needs_token = getattr(arguments.module, "NEEDS_TOKEN", True)
        if not needs_token and path and not os.path.exists(path):
            path = ""  # it is about to be written
        configuration = read_file(path) if path else Configuration()
        server = configuration.server
        url = plain_url(arguments.url or os.environ.get("FREPO_URL") or server.url)
        if not url:
            raise UsageError("which server? Use --url, the variable FREPO_URL, or url of [server] in frepo-client.toml")
        token_file = arguments.token_file or os.environ.get("FREPO_TOKEN_FILE") or server.token_file
        given = os.environ.pop("FREPO_TOKEN", "")  # the commands that this one starts do not need it
        token = ""
        if needs_token:
            token = _read_token(token_file) if token_file else _given_token(given)
        reporter.hide([token])
        options, patience = configuration.options, _A_MOMENT
        if arguments.retry is not None:
            patience = duration(arguments.retry)
            options = replace(options, retry=patience)
            configuration = configuration.with_retry(patience)
        return cls(configuration, reporter, url, token, token_file, options, path, patience)

    def with_token(self, token: str) -> Context:
        """Return the same world with another token."""
        return replace(self, token=token)

    def with_authority(self, ca_file: str) -> Context:
        """Return the same world with a file of the authority that signs the certificate of the server."""
        server = replace(self.configuration.server, ca_file=ca_file)
        return replace(self, configuration=replace(self.configuration, server=server))

    def options_with(self, content_encoding: str | None) -> Options:
        """Return the options, with another compression on the way if the command line says one."""
        return replace(self.options, content_encoding=content_encoding) if content_encoding else self.options

    def api_now(self) -> Api:
        """Return the server for a person who waits: it is asked for seconds only, unless --retry says more."""
        return self.api(replace(self.options, retry=self.patience))

    def api(self, options: Options | None = None) -> Api:
        """Return the server, with the patience of these options."""
        seconds = (options or self.options).retry
        ca_file = self.configuration.server.ca_file
        rate = (options or self.options).limit_rate
        connection = Connection(self.url, self.token, ca_file, limit_rate=rate)
        return Api(connection, Retry(seconds, self.reporter.say, self.url), (options or self.options).content_encoding)


def _read_token(path: str) -> str:
    """Return the token in a file, with or without `Authorization: Bearer` before it, as files for curl have."""
    if _UUID.match(path):
        raise UsageError("token_file and --token-file name a file that has the token, not the token itself")
    words = read_required(path, f"token_file {path}").split()
    if not words:
        raise UsageError(f"token_file {path} is empty")
    return as_header(words[-1], f"token_file {path}")


def _given_token(given: str) -> str:
    """Return the token of the variable FREPO_TOKEN, which may end with a line end; empty if there is none."""
    return as_header(given.rsplit(maxsplit=1)[-1], "FREPO_TOKEN") if given.split() else ""


def as_header(token: str, where: str) -> str:
    """Return a token that can be sent. Raises `UsageError`, which does not show it."""
    if not token.isascii() or not token.isprintable():
        raise UsageError(f"{where} has no token: a token has letters, digits and - only")
    return token
