"""The endpoints of how a collection is restore-tested."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from frepo_core.domain.permissions import allows
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import FrepoRequest
from frepo_core.web.conventions.types import Duration
from frepo_core.web.schemas.models import Form, Reply
from frepo_core.web.v1.collections.collections import COLLECTION

from .assertions import Assertion
from .choices import Choice
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

    @classmethod
    def of(cls, one: Assertion) -> "AssertionValues":
        """Convert an assertion."""
        return cls.model_construct(**vars(one))

    def assertion(self) -> Assertion:
        """Convert it for the service."""
        within: timedelta | None = self.newest_within
        return Assertion(question=self.question, min=self.min, max=self.max, newest_within=within, span=self.span)


class RestoreTest(Reply):
    """How a collection is restore-tested.

    `engine` is what it has chosen, null for the engine of its labels, or the command. `used` is the engine that tests
    it, null for the command. `engines` are those of the settings. `assertions` are null if the token may not read the
    versions.
    """

    engine: str | None
    used: str | None
    engines: list[str]
    assertions: dict[str, AssertionValues] | None


class RestoreTestValues(Form):
    """What to choose, as a whole: an engine of the settings, null for that of the labels, and assertions by name."""

    engine: str | None = Field(max_length=64, examples=["postgresql:15"])
    assertions: dict[Name, AssertionValues] = Field(default_factory=dict, max_length=50)


def show(request: FrepoRequest) -> Answer:
    """Show the engine and the assertions."""
    services = request.services.feature(RestoreTestServices)
    return Answer(body=_reply(request, services.choices.of(request.collection.id)))


def choose(request: FrepoRequest) -> Answer:
    """Replace the engine and the assertions. Assertions need the role to read the versions, too."""
    body = request.body_as(RestoreTestValues)
    services = request.services.feature(RestoreTestServices)
    choice = Choice(engine=body.engine, assertions={name: one.assertion() for name, one in body.assertions.items()})
    chosen = services.choices.set(request.collection, choice, by=request.sender, is_listed=_is_listed(request))
    return Answer(body=_reply(request, chosen))


def _is_listed(request: FrepoRequest) -> bool:
    return request.services.collections.get_for_token(request.collection.id, request.sender)[1]


def _reply(request: FrepoRequest, choice: Choice) -> RestoreTest:
    services = request.services.feature(RestoreTestServices)
    may_read = allows("version.list", request.sender, listed=_is_listed(request))
    assertions = {name: AssertionValues.of(one) for name, one in choice.assertions.items()}
    return RestoreTest(
        engine=choice.engine,
        used=services.choices.engine_of(request.collection, choice),
        engines=list(services.engines.names),
        assertions=assertions if may_read else None,
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
]
