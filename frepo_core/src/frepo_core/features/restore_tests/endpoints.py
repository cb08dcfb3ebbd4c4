"""The endpoints of how a collection is restore-tested."""

from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from frepo_core.domain.permissions import allows
from frepo_core.errors import FieldsError
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import FrepoRequest
from frepo_core.web.conventions.merge_patch import Patch, unset
from frepo_core.web.conventions.types import Duration
from frepo_core.web.schemas.models import Form, Reply
from frepo_core.web.v1.collections.collections import COLLECTION

from .assertions import Assertion
from .choices import MAX_ASSERTIONS, Choice
from .feature import RestoreTestServices

RESTORE_TEST = f"{COLLECTION}/restore-test"
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$", examples=["rows"])]


class AssertionValues(Form):
    """A question to the restored copy, in the language of the engine, and what the answer must be.

    `min` and `max` are bounds of a number. `newest_within`: the answer is a time, at most so long before the version
    arrived. `span`: how many percent it may differ from what the client has measured at the source under this name.
    """

    question: str = Field(min_length=1, max_length=2000, examples=["SELECT count(*) FROM orders"])
    min: float | None = None
    max: float | None = None
    newest_within: Duration | None = None
    span: Annotated[float, Field(ge=0, le=100)] | None = None

    def assertion(self) -> Assertion:
        """Convert it for the service."""
        within: timedelta | None = self.newest_within
        return Assertion(question=self.question, min=self.min, max=self.max, newest_within=within, span=self.span)


class AssertionPatch(Patch):
    """What changes in an assertion, or a new one, which needs its question. A field without a value is not asserted."""

    question: Annotated[str, Field(min_length=1, max_length=2000)] = unset()
    min: float | None = unset()
    max: float | None = unset()
    newest_within: Duration | None = unset()
    span: Annotated[float, Field(ge=0, le=100)] | None = unset()

    def apply(self, name: str, current: Assertion | None) -> Assertion:
        """Return the assertion of this name as it is then. Raises `FieldsError` for a new one without a question."""
        values = (vars(current) if current else {}) | self.changes()
        if not values.get("question"):
            raise FieldsError({f"assertions.{name}.question": ["A new assertion needs one"]}, FieldsError.FORM)
        return Assertion(**values)


class LastRestoreTest(Reply):
    """What the last restore test has found, and with which version."""

    outcome: str
    message: str
    at: datetime
    version: int


class RestoreAssertion(Reply):
    """A question to the restored copy, and what the answer must be, as in what was sent."""

    question: str
    min: float | None
    max: float | None
    newest_within: Duration | None
    span: float | None


class RestoreTest(Reply):
    """How a collection is restore-tested.

    `engine` is what it has chosen, null for the engine of its labels, or the command. `used` is the engine that tests
    it, null for the command. `engines` are those of the settings. `assertions` and `last`, the last result, are null if
    the token may not read the versions.
    """

    engine: str | None
    used: str | None
    engines: list[str]
    assertions: dict[str, RestoreAssertion] | None
    last: LastRestoreTest | None


class RestoreTestValues(Form):
    """What to choose, as a whole: an engine of the settings, null for that of the labels, and assertions by name."""

    engine: str | None = Field(max_length=64, examples=["postgresql:15"])
    assertions: dict[Name, AssertionValues] = Field(default_factory=dict, max_length=MAX_ASSERTIONS)

    def choice(self) -> Choice:
        """Convert it for the service."""
        return Choice(engine=self.engine, assertions={name: one.assertion() for name, one in self.assertions.items()})


class RestoreTestPatch(Patch):
    """What to change: the engine, null for that of the labels, and assertions by name; null removes one."""

    engine: Annotated[str, Field(max_length=64)] | None = unset()
    assertions: Annotated[dict[Name, AssertionPatch | None], Field(max_length=MAX_ASSERTIONS)] = unset()

    def apply(self, current: Choice) -> Choice:
        """Return the choice as it is then."""
        sent, assertions = self.changes(), dict(current.assertions)
        for name, change in sent.get("assertions", {}).items():
            if change is None:
                assertions.pop(name, None)
            else:
                assertions[name] = change.apply(name, current.assertions.get(name))
        return Choice(engine=sent.get("engine", current.engine), assertions=assertions)


def show(request: FrepoRequest) -> Answer:
    """Show the engine and the assertions."""
    services = request.services.feature(RestoreTestServices)
    return Answer(body=_reply(request, services.choices.of(request.collection.id)))


def choose(request: FrepoRequest) -> Answer:
    """Replace the engine and the assertions. Assertions need the role to read the versions, too."""
    choice = request.body_as(RestoreTestValues).choice()
    services = request.services.feature(RestoreTestServices)
    chosen = services.choices.set(request.collection, choice, by=request.sender, is_listed=_is_listed(request))
    return Answer(body=_reply(request, chosen))


def edit(request: FrepoRequest) -> Answer:
    """Change the engine or single assertions. Assertions need the role to read the versions, too."""
    patch = request.body_as(RestoreTestPatch)
    services = request.services.feature(RestoreTestServices)
    chosen = services.choices.edit(request.collection, patch.apply, by=request.sender, is_listed=_is_listed(request))
    return Answer(body=_reply(request, chosen))


def _is_listed(request: FrepoRequest) -> bool:
    return request.services.collections.get_for_token(request.collection.id, request.sender)[1]


def _reply(request: FrepoRequest, choice: Choice) -> RestoreTest:
    services = request.services.feature(RestoreTestServices)
    may_read = allows("version.list", request.sender, listed=_is_listed(request))
    assertions = {name: RestoreAssertion(**vars(one)) for name, one in choice.assertions.items()}
    last = services.choices.last_outcome(request.collection.id) if may_read else None
    return RestoreTest(
        engine=choice.engine,
        used=services.choices.engine_of(request.collection, choice),
        engines=list(services.engines.names),
        assertions=assertions if may_read else None,
        last=last and LastRestoreTest.model_validate(last._asdict()),
    )


ENDPOINTS = [
    Endpoint(
        name="show_restore_test",
        method="GET",
        path=RESTORE_TEST,
        view=show,
        summary="Show how a collection is restore-tested",
        permission="collection.fetch",
        answers={200: RestoreTest},
    ),
    Endpoint(
        name="set_restore_test",
        method="PUT",
        path=RESTORE_TEST,
        view=choose,
        summary="Choose how a collection is restore-tested",
        permission="collection.edit",
        body=RestoreTestValues,
        answers={200: RestoreTest},
    ),
    Endpoint(
        name="edit_restore_test",
        method="PATCH",
        path=RESTORE_TEST,
        view=edit,
        summary="Change how a collection is restore-tested",
        permission="collection.edit",
        body=RestoreTestPatch,
        answers={200: RestoreTest},
    ),
]
