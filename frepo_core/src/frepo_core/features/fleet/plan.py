"""A plan: what differs from a fleet file, and the steps in which that ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from frepo_core.errors import FieldsError, FrepoError

from ..restore_tests.choices import Choice
from .fleet_file import FleetToken
from .values import Difference

# Fields of the file that are no values of `/api/v1`.
OF_FILE = {"id", "tokens", "hold", "state", "fingerprint", "enrol", "restore_tests"}
NEW, GONE = "new", "absent"


@dataclass(frozen=True, kw_only=True)
class CollectionStep:
    """What to do with a collection: nothing is None or empty. `change` has the names of `/api/v1`.

    `hold` is the reason of a hold that is set, an empty text ends it. `choice` is how it is restore-tested then.
    `grants` are keys of tokens of the file, `revokes` the keys of rows.
    """

    key: str
    id: str
    is_new: bool = False
    is_deleted: bool = False
    change: Mapping[str, Any] = field(default_factory=dict)
    is_adopted: bool = False
    hold: str | None = None
    grants: Sequence[str] = ()
    revokes: Sequence[str] = ()
    choice: Choice | None = None


@dataclass(frozen=True, kw_only=True)
class TokenStep:
    """What to do with a token: `rows` are the fingerprints of those that there are, the newest last."""

    key: str
    wanted: FleetToken
    rows: Sequence[str] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    is_deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class CodeStep:
    """What to do with a one-time code: it is for these collections then. `open` is the id of the one that there is.

    Without collections, that one ends.
    """

    key: str
    wanted: FleetToken
    collections: Sequence[str]
    open: str | None = None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What differs, and the steps in which that ends. `token_keys` are the keys of rows, by those of the file."""

    differences: Sequence[Difference]
    tokens: Sequence[TokenStep]
    collections: Sequence[CollectionStep]
    codes: Sequence[CodeStep]
    token_keys: Mapping[str, str]

    @property
    def new_tokens(self) -> Sequence[TokenStep]:
        """The tokens that are to be made."""
        return [one for one in self.tokens if not one.rows and not one.is_deleted]

    @property
    def new_codes(self) -> Sequence[CodeStep]:
        """The one-time codes that are to be made."""
        return [one for one in self.codes if one.open is None]


class Findings:
    """What a comparison finds: the lines of the table, and what would be refused."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self._problems: list[str] = []
        self._taken: dict[str, str] = {}

    def note(self, kind: str, key: str, what: str, before: Any, after: Any) -> None:
        """Add a line to the table."""
        self.differences.append(Difference(kind=kind, key=key, what=what, before=before, after=after))

    def refuse(self, kind: str, key: str, problem: str) -> None:
        """Note that something would be refused. `kind` is `collections` or `tokens`."""
        self._problems.append(f"{kind}.{key}: {problem}")

    def attempt(self, key: str, do: Callable[[], object]) -> None:
        """Note why the service would refuse something about a collection."""
        try:
            do()
        except FrepoError as error:
            for one in (error, *error.others):
                self.refuse("collections", key, _text(one))

    def take(self, kind: str, key: str, thing: str) -> bool:
        """Note that a thing has this key; refuse the key if the file has another one for the thing."""
        if (other := self._taken.setdefault(thing, key)) != key:
            self.refuse(kind, key, f"is the same as {other}: a thing has one key")
        return other == key

    def require_none_refused(self) -> None:
        """Raise `FieldsError` that names all that would be refused."""
        if self._problems:
            raise FieldsError({"FILE": self._problems})


def _text(error: FrepoError) -> str:
    """Return an error in one line."""
    if isinstance(error, FieldsError):
        fields = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in error.fields.items())
        return f"{fields} ({error.explanation})" if error.explanation else fields
    return error.explanation or error.sentence or error.message
