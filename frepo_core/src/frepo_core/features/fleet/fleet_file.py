"""The file of a fleet: its models, which are those of `/api/v1`, and how it is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from frepo_core.errors import FieldsError
from frepo_core.services.backups.holds.holds import LONGEST_REASON
from frepo_core.web.conventions.merge_patch import unset
from frepo_core.web.conventions.types import Fingerprint
from frepo_core.web.schemas import json_schemas
from frepo_core.web.schemas.models import Form
from frepo_core.web.schemas.token_fields import KnownRole
from frepo_core.web.v1.collections.models import CollectionPatch
from frepo_core.web.v1.tokens.models import TokenPatch

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

MOST_BYTES = 64 << 20
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", examples=["shop-db"])]
# A thing is deleted only if the file says so, never because it is missing there.
State = Annotated[Literal["present", "absent"], Field(description="`absent` deletes the thing. A missing one stays.")]


class FleetHold(Form):
    """Why a collection is on hold."""

    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON, examples=["audit of 2026, case 4711"])]


class FleetCollection(CollectionPatch):
    """A collection, with the fields of `/api/v1`. What is missing stays as it is, or takes its default.

    `id` is that of a collection that exists and has no key yet, or the one that a new collection gets. `tokens` are the
    keys of all tokens that may use it: others are taken off its list. `hold`: null ends it.
    """

    id: Annotated[str, Field(pattern=json_schemas.UUID4, examples=[json_schemas.A_COLLECTION])] = unset()
    tokens: list[Key] = unset()
    hold: FleetHold | None = unset()
    state: State = "present"


class FleetToken(TokenPatch):
    """A token, without its secret. Its roles cannot be changed: give the token another key for others.

    `fingerprint` is that of a token that exists and has no key yet.
    """

    roles: list[KnownRole] = unset()
    fingerprint: Fingerprint = unset()
    state: State = "present"


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

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            """Construct a mapping. Raises `ConstructorError` for a repeated key."""
            names = [key.value for key, _ in node.value]
            if len({*map(str, names)}) < len(names):
                repeated = next(name for name in names if names.count(name) > 1)
                problem = f"the key {repeated!r} is written twice"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
            made: dict[Any, Any] = super().construct_mapping(node, deep)
            return made

    def as_text(loader: Any, node: Any) -> Any:
        return loader.construct_scalar(node)

    Loader.add_constructor("tag:yaml.org,2002:timestamp", as_text)
    try:
        return yaml.load(raw.decode(), Loader=Loader)  # noqa: S506  # a subclass of SafeLoader
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise FieldsError({"FILE": [f"is not YAML in UTF-8: {' '.join(str(error).split())}"]}) from None
