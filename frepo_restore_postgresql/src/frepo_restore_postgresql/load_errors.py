"""What the errors of psql and pg_restore mean: the dump is broken, something is missing here, or nothing is lost."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from frepo_core.plugins import NotDecided, NotRestored

_ERROR = re.compile(r"(?:ERROR|FATAL): +(.+)|(?:pg_restore|psql\S*): error: (?!could not execute query)(.+)")
_STATEMENT = re.compile(r"(?:^|: )(?:STATEMENT|Command was): +(.+)")
# Statements about owners, rights and settings of a session: without them, all data is there.
_HARMLESS = re.compile(
    r"(?:ALTER\b.*\bOWNER TO\b|GRANT\b|REVOKE\b|ALTER DEFAULT PRIVILEGES\b|COMMENT ON EXTENSION\b|SET\b|"
    r"SECURITY LABEL\b|ALTER ROLE\b)",
    re.IGNORECASE,
)
_HARMLESS_ERROR = re.compile(
    r"role \".*\" does not exist|must be (?:owner|member|able to)|permission denied|"
    r"unrecognized configuration parameter"
)
_EXTENSION = re.compile(r"extension \"(.+?)\" is not available|extension control file \".*/(.+?)\.control\"")
_MISSING = re.compile(
    r"role \".*\" does not exist|permission denied|must be superuser|must be owner|must be (?:member|able to)|"
    r"could not access file|language \".*\" does not exist|unsupported version|tablespace \".*\" does not exist|"
    r"unrecognized configuration parameter|not supported by this build|collation .* does not exist|"
    r"could not connect|connection to server|terminating connection|server closed the connection"
)


@dataclass(frozen=True, kw_only=True)
class LoadError:
    """An error, and the beginning of the statement that caused it; that is empty if it is not known."""

    message: str
    statement: str

    @property
    def is_harmless(self) -> bool:
        """Whether all data is there without the statement."""
        return bool(_HARMLESS.match(self.statement) and _HARMLESS_ERROR.search(self.message))


def judge_errors(text: str, version: str) -> str:
    """Return what was left out, in a sentence; empty for nothing. Raises `NotRestored` and `NotDecided`.

    What is missing here comes first: most other errors follow from it.
    """
    errors = list(find_errors(text))
    left = [error for error in errors if not error.is_harmless]
    for error in left:
        if found := _EXTENSION.search(error.message):
            name = found[1] or found[2]
            raise NotDecided(
                f"the extension {name!r:.80} is not installed for PostgreSQL {version} here: install its package, "
                f"such as postgresql-{version}-{name[:80]}"
            )
    for error in left:
        if _MISSING.search(error.message):
            raise NotDecided(f"this needs what is not here: {error.message}")
    if left:
        more = f", and {len(left) - 1} more errors" if len(left) > 1 else ""
        raise NotRestored(f"PostgreSQL {version} says: {left[0].message}{more}")
    return f"{len(errors)} statements about owners, rights or settings were left out" if errors else ""


def find_errors(text: str) -> Iterator[LoadError]:
    """Yield the errors in the output of psql or pg_restore."""
    message = ""
    for line in text.splitlines():
        if found := _ERROR.search(line):
            if message:
                yield LoadError(message=message, statement="")
            message = (found[1] or found[2]).strip()
        elif message and (found := _STATEMENT.search(line)):
            yield LoadError(message=message, statement=found[1])
            message = ""
    if message:
        yield LoadError(message=message, statement="")
