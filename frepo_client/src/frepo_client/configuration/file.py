"""Reading the configuration."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import UsageError
from ..measures import Measures
from ..texts import read_required
from ..uploads.wire import CHOICES
from .encoding import encoding_stages
from .recipes import RECIPE_KEYS, stages_of
from .values import Table

_SERVER = ("url", "token_file", "ca_file")
_DEFAULTS = (
    "compress",
    "content_encoding",
    "encrypt",
    "identity",
    "spread",
    "limit_rate",
    "retry",
    "spool",
    "ping_url",
    "metrics_file",
)
_OWN = ("collection", "command", "restore_test", "timeout", "before", "after", "env_file", "assert")
_JOB = (*_OWN, *_DEFAULTS, *RECIPE_KEYS)
SIX_HOURS = 6 * 3600.0
# A command that hangs ends, and is reported, before the next night.
TWENTY_HOURS = 20 * 3600.0


@dataclass(frozen=True)
class Server:
    """Where the server is, and the file with the token."""

    url: str = ""
    token_file: str = ""
    ca_file: str = ""


@dataclass(frozen=True)
class Options:
    """What holds for a job unless it says something else. Times are in seconds, rates in bytes per second."""

    compress: str = ""
    content_encoding: str = "auto"
    encrypt: Sequence[str] = ()
    identity: Sequence[str] = ()
    spread: float = 0.0
    limit_rate: int | None = None
    retry: float = SIX_HOURS
    spool: str = ""
    ping_url: str = ""
    metrics_file: str = ""


@dataclass(frozen=True)
class Job:
    """A backup that `frepo-client run` makes. `stages` include compression and encryption.

    `plain` is how many of them make the content that the others encrypt; 0: nothing is encrypted. `timeout` is in
    seconds, for each of its commands; 0: no limit.
    """

    name: str
    collection: str
    stages: Sequence[Sequence[str]]
    options: Options
    plain: int = 0
    restore_test: Sequence[Sequence[str]] = ()
    timeout: float = TWENTY_HOURS
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    env_file: str = ""
    measures: Measures = field(default_factory=Measures)

    def environment(self) -> Mapping[str, str]:
        """Return the variables of `env_file`: lines `NAME=value`. Raises `UsageError`."""
        return read_environment(self.env_file) if self.env_file else {}


@dataclass(frozen=True)
class WrongJob:
    """A job that cannot run: its table is wrong. `collection` is empty if nothing can be reported about it."""

    name: str
    collection: str
    error: UsageError


@dataclass(frozen=True)
class Configuration:
    """A whole configuration; empty without a file."""

    server: Server = field(default_factory=Server)
    options: Options = field(default_factory=Options)
    jobs: Mapping[str, Job] = field(default_factory=dict)
    wrong_jobs: Mapping[str, WrongJob] = field(default_factory=dict)

    def with_retry(self, seconds: float) -> Configuration:
        """Return the same configuration, whose jobs try again for so long."""
        jobs = {name: replace(job, options=replace(job.options, retry=seconds)) for name, job in self.jobs.items()}
        return replace(self, jobs=jobs)


def find_file() -> str:
    """Return the path of the first configuration that exists; empty if none exists."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    places = [os.path.join(home, "frepo-client.toml"), "/etc/frepo-client.toml"]
    if os.name == "nt":
        places = [os.path.join(os.environ.get("PROGRAMDATA", "C:\\ProgramData"), "frepo", "frepo-client.toml")]
    return next((place for place in places if os.path.exists(place)), "")


def default_file() -> str:
    """Return where a new configuration belongs: for all users if root writes it."""
    if os.name == "nt":
        return os.path.join(os.environ.get("PROGRAMDATA", "C:\\ProgramData"), "frepo", "frepo-client.toml")
    if os.geteuid() == 0 and "XDG_CONFIG_HOME" not in os.environ:
        return "/etc/frepo-client.toml"
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "frepo-client.toml")


def read_file(path: str) -> Configuration:
    """Read a configuration. Raises `UsageError` that names the table and the key."""
    try:
        content = _toml().loads(read_required(path, path))
    except ValueError as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    top = Table(content, path)
    top.only(("server", "defaults", "job"))
    server = Table(top.values.get("server", {}), "[server]")
    server.only(_SERVER)
    defaults = Table(top.values.get("defaults", {}), "[defaults]")
    defaults.only(_DEFAULTS)
    options = _options(defaults, Options())
    jobs = Table(top.values.get("job", {}), "[job]").values
    right, wrong = _jobs(jobs, options)
    return Configuration(
        server=Server(**{key: server.text(key) for key in _SERVER}), options=options, jobs=right, wrong_jobs=wrong
    )


def read_environment(path: str) -> dict[str, str]:
    """Read lines `NAME=value`; empty lines and comments are left out, and quotes around a value."""
    found = {}
    for line in map(str.strip, read_required(path, f"env_file {path}").splitlines()):
        if line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals or not name.strip().isidentifier():
                raise UsageError(f"env_file {path}: write each line as NAME=value")
            found[name.strip()] = value.strip().strip("\"'")
    return found


def _jobs(tables: Mapping[str, Any], defaults: Options) -> tuple[dict[str, Job], dict[str, WrongJob]]:
    """Return the jobs that can run, and those that are wrong: they stop no other one."""
    right, wrong = {}, {}
    for name, values in tables.items():
        try:
            right[name] = _job(name, Table(values, f"[job.{name}]"), defaults)
        except UsageError as error:
            collection = values.get("collection") if isinstance(values, Mapping) else None
            wrong[name] = WrongJob(name, collection if isinstance(collection, str) else "", error)
    return right, wrong


def _job(name: str, table: Table, defaults: Options) -> Job:
    table.only(_JOB)
    if not table.text("collection"):
        raise UsageError(f"{table.where} needs collection: the name or the id")
    if bool(table.values.get("command")) == bool(table.text("recipe")):
        raise UsageError(f"{table.where} needs either command or recipe")
    options = _options(table, defaults)
    stages = table.stages("command") or stages_of(table)
    return Job(
        name=name,
        collection=table.text("collection"),
        stages=[*stages, *encoding_stages(options.compress, options.encrypt, table.where)],
        options=options,
        plain=len(stages) if options.encrypt else 0,
        restore_test=table.stages("restore_test"),
        timeout=table.seconds("timeout", TWENTY_HOURS) or 0.0,
        before=table.texts("before"),
        after=table.texts("after"),
        env_file=table.text("env_file"),
        measures=_measures(table),
    )


def _measures(table: Table) -> Measures:
    """Return the table `assert` of a job. Raises `UsageError`."""
    questions = Table(table.values.get("assert", {}), f"{table.where[:-1]}.assert]")
    if not questions.values:
        return Measures()
    recipe, target = table.text("recipe"), table.text("path") or table.text("database")
    if recipe not in ("postgres", "mariadb", "sqlite") or not target:
        raise UsageError(f"{questions.where} needs the recipe postgres or mariadb with database, or sqlite")
    for name in questions.values:
        if not re.fullmatch("[a-z][a-z0-9_]{0,63}", name):
            raise UsageError(f"{questions.where} {name!r}: write small letters, digits and _")
    return Measures(recipe, target, {name: questions.text(name) for name in questions.values})


def _options(table: Table, defaults: Options) -> Options:
    return Options(
        compress=table.text("compress", defaults.compress),
        content_encoding=table.choice("content_encoding", CHOICES, defaults.content_encoding),
        encrypt=table.texts("encrypt") if "encrypt" in table.values else defaults.encrypt,
        identity=table.texts("identity") if "identity" in table.values else defaults.identity,
        spread=table.seconds("spread", defaults.spread) or 0.0,
        limit_rate=table.size("limit_rate", defaults.limit_rate),
        retry=table.seconds("retry", defaults.retry) or 0.0,
        spool=table.text("spool", defaults.spool),
        ping_url=table.text("ping_url", defaults.ping_url),
        metrics_file=table.text("metrics_file", defaults.metrics_file),
    )


def _toml() -> Any:
    if sys.version_info >= (3, 11):
        import tomllib

        return tomllib
    from ..third_party import tomli

    return tomli
