"""The command that recovers a lost database from storages."""

import argparse
import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.cli.base import FrepoCommand
from frepo_core.cli.progress import ProgressLine
from frepo_core.cli.transfers.streams import target
from frepo_core.domain.durations import format_age
from frepo_core.domain.naming import printable
from frepo_core.domain.permissions import administrative_roles
from frepo_core.domain.texts.counts import counted
from frepo_core.domain.texts.foreign_text import spreadsheet_cell
from frepo_core.errors import FieldsError, FrepoError

from ..feature import RecoveryServices
from .merging import SHOWN, merge_all, parse_time
from .secrets_of_old import use_secrets, with_secrets

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

    from ..recovery import Recovery, RecoveryReport
    from ..sources import Source
    from ..staging import MissingContent


# The kinds of objects that are counted, as people call them. The last ones are in the trash.
NOUNS = {
    "collection": "collection",
    "version": "version",
    "file": "file",
    "token": "token",
    "deleted_collection": "deleted collection",
    "trash": "version",
}
MISSING, HOSTS, TOKENS = "frepo-missing.csv", "frepo-hosts.csv", "frepo-tokens.csv"


_MISSING = ("what", "name", "size", "digest", "storage", "key")
_TOKENS = ("name", "roles", "collections", "expires_at")


def write_missing(missing: "Iterable[MissingContent]", folder: str, name: str) -> Path:
    """Write the contents that are in no storage; return the path."""
    return _write(Path(folder, name), _MISSING, map(asdict, missing))


def write_tokens(recovery: "Recovery", source: "Source", folder: str, hosts: str, others: str) -> tuple[Path, Path]:
    """Write the hosts for `fleet:create --from`, and what each token was; return both paths."""
    listed: dict[str, list[str]] = defaultdict(list)
    for collection in recovery.collections(source):
        for token in collection.get("tokens", ()):
            listed[token["token_key"]].append(collection["id"])
    tokens = list(recovery.tokens(source))
    names = sorted({token["name"] for token in tokens if recovery.is_of_host(token, listed[token["key"]])})
    rows = (
        {
            "name": token["name"],
            "roles": " ".join(token["roles"]),
            "collections": " ".join(listed[token["key"]]),
            "expires_at": token.get("expires_at", ""),
        }
        for token in tokens
    )
    return (
        _write(Path(folder, hosts), ("name",), ({"name": name} for name in names)),
        _write(Path(folder, others), _TOKENS, rows),
    )


def _write(path: Path, columns: Sequence[str], rows: "Iterable[Mapping[str, Any]]") -> Path:
    with target(str(path), replaces=True, option="--lists") as content:
        file = io.TextIOWrapper(content, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(_cells(rows))
        file.detach()
    return path


def _cells(rows: "Iterable[Mapping[str, Any]]") -> Iterator[dict[str, str]]:
    for row in rows:
        yield {name: str(spreadsheet_cell(str(value))) for name, value in row.items()}


class Recover(FrepoCommand):
    """Recover a lost database from storages alone: from the newest catalogue and the journal since.

    The database of database.url must be empty, and the service must not run. The storages then belong to the new
    database: an old machine that comes back stops writing to them. Exit status 1 if contents are missing, or if nothing
    can be made of an object.
    """

    examples = (
        "frepo recover --from local --secrets safe.txt",
        "frepo recover --from offsite --from archive --without-secrets",
        "frepo recover --merge local",
        "frepo recover --from offsite --deleted-since 3d",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "--from",
            dest="sources",
            action="append",
            metavar="STORAGE",
            help="the name of a storage that has survived; of several, the one whose journal reaches furthest is used",
        )
        source.add_argument(
            "--merge",
            action="append",
            metavar="STORAGE",
            help="may be repeated: read back what a database that was restored from a backup has lost, after "
            "storage:adopt",
        )
        parser.add_argument(
            "--deleted-since",
            metavar="TIME",
            help="do not recover a database, but bring versions that were there then into the trash, e.g. 3d",
        )
        parser.add_argument(
            "--secrets", metavar="FILE", help="the two lines that `frepo install` has printed for a safe"
        )
        parser.add_argument(
            "--without-secrets",
            action="store_true",
            help="the two lines are lost: recover all but the tokens, and list what they were",
        )
        parser.add_argument(
            "--unverified",
            action="store_true",
            help="also use what is not known to be from the old service, e.g. a catalogue without a seal",
        )
        parser.add_argument(
            "--lists", default=".", metavar="FOLDER", help="where to write what is missing; default: this folder"
        )
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def take_action(self, arguments: argparse.Namespace) -> int:
        """Recover; return 1 if contents are missing. Raises `FrepoError` if the answer is not yes."""
        if arguments.merge or arguments.deleted_since:
            return self._merge(arguments)
        from frepo_core.cli.commands.setup.upgrade import upgrade, upgrade_plugins
        from frepo_core.services.access import kept_secrets, token_phrase

        if arguments.secrets:
            use_secrets(arguments.secrets, self.read_ini(), self.say)
        services = with_secrets(self.assemble, self.app.stdin)
        for storage in arguments.sources:
            services.backends.check_name(storage)
            with_secrets(partial(services.backends.get, storage), self.app.stdin)
        upgrade(services)
        upgrade_plugins(services, self.say)
        unverified, (storage, *also) = arguments.unverified or arguments.without_secrets, arguments.sources
        with (
            ProgressLine("recover") as progress,
            services.feature(RecoveryServices).recovery(
                storage, progress, also=also, unverified=unverified
            ) as recovery,
        ):
            source = recovery.find()
            self._describe(source, services)
            with_tokens = self._has_phrase(recovery, source, services, may_lack=arguments.without_secrets)
            if with_tokens:
                self._name_administrators(recovery, source)
            question = f"Recover all of this into the database {services.database.name}?"
            self.require_yes(question, given=arguments.yes)
            report = recovery.run(source, with_tokens=with_tokens)
            upgrade_plugins(services, self.say)  # they get their rows
            token_phrase.verify(services.database, services.settings.enc_token_phrase.get_secret_value())
            if arguments.secrets:
                kept_secrets.note_printed(services.database, services.settings)
            self._report(report)
            if report.missing:
                path = write_missing(recovery.missing(), arguments.lists, MISSING)
                contents = counted(report.missing, "content")
                self.say(f"Named, but in no storage, or not decodable: {contents}; {path} lists them")
            if not with_tokens:
                hosts, others = write_tokens(recovery, source, arguments.lists, HOSTS, TOKENS)
                self.say(
                    f"The tokens are void; {others} lists what they were. For the hosts: "
                    f"frepo fleet:create --from {hosts} --codes codes.csv"
                )
        self.say("Now start the service. `frepo doctor` says whether anything is left to do.")
        return int(bool(report.missing or report.unusable))

    def _merge(self, arguments: argparse.Namespace) -> int:
        if arguments.merge and arguments.deleted_since:
            raise FieldsError({"--deleted-since": ["needs --from, not --merge"]})
        services = self.services()
        storages = arguments.merge or arguments.sources
        for storage in storages:
            services.backends.check_name(storage)
        since = arguments.deleted_since
        at = parse_time(since, services.database.now()) if since else None
        return merge_all(services, storages, at, self.say, unverified=arguments.unverified)

    def _describe(self, source: "Source", services: "Services") -> None:
        age = format_age(services.database.now() - source.reaches)
        self.say(
            f"{source.storage}, {source.catalogue.text}: {counted(source.objects, 'object')}, and "
            f"{counted(source.parts, 'part')} of the journal since\n"
            f"It has all that was acknowledged before {source.reaches:%Y-%m-%d %H:%M:%S} UTC, {age} ago"
        )
        for problem in source.problems:
            self.say(f"Note: {problem}")

    def _name_administrators(self, recovery: "Recovery", source: "Source") -> None:
        """Say which tokens can act for others, so that a person sees one that should not be there."""
        self.say("Tokens with administrative roles, which will be valid:")
        for token in recovery.tokens(source):
            names = token.get("roles")
            if isinstance(names, list) and (roles := administrative_roles(map(str, names))):
                about = f"{token.get('fingerprint')} {token.get('name') or 'without a name'}"
                self.say(printable(f"  {about}, made {token.get('created_at')!s:.10}: {', '.join(roles)}"))

    def _has_phrase(self, recovery: "Recovery", source: "Source", services: "Services", *, may_lack: bool) -> bool:
        """Return whether the phrase in force is that of the old tokens. Raises `FrepoError` if it has to be."""
        from frepo_core.services.access.token_phrase import is_check_of

        stored = recovery.stored_phrase_check(source)
        if stored is None or is_check_of(services.settings.enc_token_phrase.get_secret_value(), stored):
            return True
        if may_lack:
            return False
        raise FrepoError(
            "enc.token_phrase (ENC_TOKEN_PHRASE) is not the phrase of the old machine, so all tokens would be void. "
            "Give the two lines that `frepo install` printed there: --secrets FILE. If they are lost: --without-secrets"
        )

    def _report(self, report: "RecoveryReport") -> None:
        counts = [counted(report.counts.get(kind, 0), noun) for kind, noun in NOUNS.items()]
        self.say(f"Recovered: {', '.join(counts)} in the trash")
        self.say(f"This database owns now: {', '.join(report.adopted)}")
        if contradictions := report.counts.get("versions without a collection"):
            versions = counted(contradictions, "version")
            self.say(f"Left out, because the catalogue does not have their collection: {versions}")
        for what in report.unusable[:SHOWN]:
            self.say(f"Nothing can be made of: {what}")
        if len(report.unusable) > SHOWN:
            self.say(f"and of {len(report.unusable) - SHOWN} other objects")
