"""The file of a fleet: its models, which are those of `/api/v1`, and how it is read."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from frepo_core.domain.enrolment import UPLOADER_ROLES
from frepo_core.errors import FieldsError
from frepo_core.services.backups.holds.holds import LONGEST_REASON
from frepo_core.web.conventions.merge_patch import unset
from frepo_core.web.conventions.types import Fingerprint
from frepo_core.web.schemas import json_schemas
from frepo_core.web.schemas.models import Form
from frepo_core.web.schemas.token_fields import KnownRole
from frepo_core.web.v1.collections.models import CollectionPatch
from frepo_core.web.v1.tokens.models import TokenPatch

from ..restore_tests.endpoints import RestoreTestValues

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

MOST_BYTES = 64 << 20
SPARE_VALUES = 100_000
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", examples=["shop-db"])]
# A thing is deleted only if the file says so, never because it is missing there.
State = Annotated[Literal["present", "absent"], Field(description="`absent` deletes the thing. A missing one stays.")]


class FleetHold(Form):
    """Why a collection is on hold."""

    reason: Annotated[
        str,
        Field(min_length=1, max_length=LONGEST_REASON, examples=["audit of 2026, case 4711"]),
        BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value),
    ]


class FleetCollection(CollectionPatch):
    """A collection, with the fields of `/api/v1`. What is missing stays as it is, or takes its default.

    `id` is that of a collection that exists and has no key yet, or the one that a new collection gets. `tokens` are the
    keys of all tokens that may use it: others are taken off its list. `hold`: null ends it. `restore_tests`: null is
    the engine of its labels, without assertions.
    """

    id: Annotated[str, Field(pattern=json_schemas.UUID4, examples=[json_schemas.A_COLLECTION])] = unset()
    tokens: list[Key] = unset()
    hold: FleetHold | None = unset()
    restore_tests: RestoreTestValues | None = unset()
    state: State = "present"


class FleetToken(TokenPatch):
    """A token, without its secret. Its roles cannot be changed: give the token another key for others.

    `fingerprint` is that of a token that exists and has no key yet. `enrol`: a one-time code is made in place of the
    token, with which the host makes it, with the roles for uploads.
    """

    roles: list[KnownRole] = unset()
    fingerprint: Fingerprint = unset()
    enrol: bool = False
    state: State = "present"

    @model_validator(mode="after")
    def _check_code(self) -> Self:
        """Refuse what a one-time code cannot give."""
        if self.enrol and self.changes().get("restrictions"):
            raise ValueError("a token of a one-time code has no restrictions: leave them out, or `enrol`")
        if self.enrol and "roles" in self.model_fields_set and {*self.roles} != {*UPLOADER_ROLES}:
            raise ValueError(f"a token of a one-time code has these roles: {', '.join(sorted(UPLOADER_ROLES))}")
        return self


class FleetFile(Form):
    """A fleet: collections and tokens by their keys, which stay with them whatever their names are."""

    frepo_fleet: Literal[1] = Field(description="The version of the format.")
    tokens: dict[Key, FleetToken] = Field(default_factory=dict)
    collections: dict[Key, FleetCollection] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        """Refuse a list that names a token which the file does not have, or deletes."""
        there = {key for key, token in self.tokens.items() if token.state == "present"}
        for key, collection in self.collections.items():
            if missing := sorted({*(collection.tokens or ())} - there):
                raise ValueError(f"The collection {key} lists {missing[0]!r}, which is no token of this file")
        listed = {key for one in self.collections.values() for key in one.tokens or ()}
        if lonely := sorted({key for key in there if self.tokens[key].enrol} - listed):
            raise ValueError(f"No collection of this file lists {lonely[0]!r}: a one-time code needs one")
        return self


def read_file(path: str, services: "Services") -> FleetFile:
    """Return the fleet of a YAML file. Raises `FieldsError` that names all that is wrong."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise FieldsError({"FILE": [f"{path!r} cannot be read: {error.strerror}"]}) from error
    if len(raw) > MOST_BYTES:
        raise FieldsError({"FILE": [f"{path!r} is larger than {MOST_BYTES >> 20} MiB"]})
    try:
        return FleetFile.model_validate(_load(raw), context=services)
    except ValidationError as error:
        raise FieldsError({"FILE": [_line(one) for one in error.errors(include_url=False)]}) from None


def _line(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    text = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {text}" if place else text


def _load(raw: bytes) -> Any:
    """Parse YAML. Times stay texts, and a key that is written twice is refused."""
    import yaml  # only this command needs it

    class Loader(yaml.SafeLoader):
        """A loader without times, which refuses a repeated key."""

        def compose_mapping_node(self, anchor: Any) -> Any:
            """Compose a mapping as it is written. Raises `ComposerError` for a repeated key."""
            node, names = super().compose_mapping_node(anchor), set[str]()
            for key, _ in node.value:
                if isinstance(key.value, str) and key.value in names:
                    problem = f"the key {key.value!r} is written twice"
                    raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
                names |= {key.value} if isinstance(key.value, str) else set()
            return node

    def as_text(loader: Any, node: Any) -> Any:
        return loader.construct_scalar(node)

    Loader.add_constructor("tag:yaml.org,2002:timestamp", as_text)
    try:
        data = yaml.load(raw.decode(), Loader=Loader)  # noqa: S506  # a subclass of SafeLoader
    except (yaml.YAMLError, ValueError, LookupError, TypeError, RecursionError) as error:  # also of tags: !!int abc
        raise FieldsError({"FILE": [f"is not YAML in UTF-8: {' '.join(str(error).split())}"]}) from None
    _check_values(data, most=len(raw) + SPARE_VALUES)
    return data


def _check_values(data: Any, *, most: int) -> None:
    """Refuse texts that not every database keeps, and more values than a file without aliases can have.

    A few aliases of aliases stand for millions of values, and an alias in what it names for values without end.
    """
    remaining = [data]
    for _ in range(most):
        if not remaining:
            return
        value = remaining.pop()
        if isinstance(value, str) and _NOT_STORABLE.search(value):
            raise FieldsError({"FILE": [f"the text {value[:60]!r} has U+0000 or half of a pair of surrogates"]})
        if isinstance(value, dict):
            remaining += [*value, *value.values()]
        elif isinstance(value, list | tuple | set):
            remaining += value
    raise FieldsError({"FILE": [f"its aliases stand for more than {most} values: write them out"]})
