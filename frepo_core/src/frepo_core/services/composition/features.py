"""What a feature adds to the services: a border between what the mission asks for and what was built upon it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frepo_core.domain.structs import struct
from frepo_core.plugins import JobContext

from ..content.copies import Copies
from ..content.encodings import Encodings
from ..reports.figures import Figures

Summary = Mapping[str, Any]


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

    - `services`: a class of cached properties, which is made with the other services: `services.feature(CLASS)`.
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
