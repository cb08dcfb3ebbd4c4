"""What a feature adds to the services: a border between what the mission asks for and what was built upon it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self, TypeVar, overload

from frepo_core.domain.structs import struct
from frepo_core.plugins import JobContext

from ..content.copies import Copies
from ..content.encodings import Encodings
from ..reports.figures import Figures

Summary = Mapping[str, Any]
S = TypeVar("S")
_MAKING = threading.RLock()  # one for all, because services make others


class on_demand(cached_property[S]):  # noqa: N801  # a decorator, as `cached_property` is
    """A service of a feature, imported and made when somebody asks for it: once, if several threads ask at a time.

    What may fail with the settings is a `cached_property`, which is made when a process begins to serve.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> S: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | S:
        """Return the service."""
        with _MAKING:
            return super().__get__(instance, owner)


@struct
class BuiltinJob:
    """A job of the service itself. In read-only mode it does nothing.

    - `schedule`, `lane`, `summary`: as those of a `Job` of a plug-in.
    - `work`: gets the services and the context, and returns the summary of the run.
    - `is_on`: gets the services; false makes `off` the schedule by default.
    """

    name: str
    schedule: str
    lane: Any
    summary: str
    work: Callable[[Any, JobContext], Summary]
    is_on: Callable[[Any], bool] = lambda services: True


@struct
class Feature:
    """What a feature adds. Nothing below knows which features there are: `features.assembly` hands them over.

    - `services`: a class whose properties are services, `on_demand` or made at the start: `services.feature(CLASS)`.
    - `jobs`: its built-in jobs.
    - `endpoints`: the modules with its endpoints below `/api/v1`. They are imported when the web application is made,
      not before: no command needs them.
    - `encodings`: returns what decodes contents that are not stored as they are. One feature at most has it; without
      one, it is the empty `Encodings`.
    - `copies`: gets the services, and returns what answers for second copies. One feature at most has it; without one,
      it is the empty `Copies`.
    - `figures`: gets the services, and returns what it adds to the reports.
    - `recovered`: returns the kinds of objects that the journal writes, and a recovery reads back.
    - `web`: gets the configurator of Pyramid when all endpoints are known, also those of plug-ins.
    """

    services: type[Any] | None = None
    jobs: Sequence[BuiltinJob] = ()
    endpoints: Sequence[str] = ()
    encodings: Callable[[], Encodings] | None = None
    copies: Callable[[Any], Copies] | None = None
    figures: Callable[[Any], Figures] = lambda services: Figures()
    recovered: Callable[[], Sequence[Any]] = tuple
    web: Callable[[Any], None] = lambda config: None
