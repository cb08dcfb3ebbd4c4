"""The hooks about what happened, who is told, and the work and the state of the service."""

from collections.abc import Sequence
from typing import Any

from ..checks.doctor_check import DoctorCheck
from ..checks.health_check import HealthCheck
from ..context import PluginContext
from ..job import Job
from ..markers import hookspec
from ..notifier import Notifier
from ..subscriber import Subscriber

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_subscribers(context: PluginContext) -> Sequence[Subscriber]:  # type: ignore[empty-body]
    """Return the subscribers of this plug-in, which are told what happened. They may depend on `context.settings`.

    :when: once, at the start; `handle` after the commit of what happened, at least once for each event, in the
        order of commits
    :thread: `handle`: a thread of this subscriber, in the process whose worker leads
    :transaction: outside
    :failure: `handle` is called again later with the same event; after the last try the event is parked, and
        later ones follow

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_subscribers(context):
            return [Subscriber(name="diary", kinds=["version.*"], handle=write_line)]
    """


@hookspec
def frepo_notifiers() -> Sequence[Notifier]:  # type: ignore[empty-body]
    """Return the notifiers of this plug-in: further ways for messages to people.

    The plug-in that delivers messages uses them for targets with a URL of their scheme, in place of its own ways. To
    send a message of your own, call `context.service.notify`.

    :when: once, at the start; `check` at the start for each target; `send` for each message
    :thread: `send`: the thread of the target's subscriber, or that of the job that sends a summary
    :transaction: outside
    :failure: the message is sent again later, with growing pauses; any exception but `NotSent` is logged with the
        name of the plug-in

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_notifiers():
            return [Notifier(name="pager", send=page)]
    """


@hookspec
def frepo_jobs(context: PluginContext) -> Sequence[Job]:  # type: ignore[empty-body]
    """Return the periodic jobs of this plug-in. They may depend on `context.settings`.

    :when: once, at the start; `run` when the job is due
    :thread: `run`: a thread of the worker that leads, one job of each lane at a time
    :transaction: outside
    :failure: the run is recorded as failed, an event `job.failed` is written, and the job is run again at its
        next time

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_jobs():
            return [Job(name="count", schedule="every 1h", run=count, summary="counts")]
    """


@hookspec
def frepo_health_checks() -> Sequence[HealthCheck]:  # type: ignore[empty-body]
    """Return the checks that `/health` runs.

    :when: once, at the start; `run` at each request of `/health`
    :thread: `run`: a thread of its own, at most one for each check
    :transaction: outside
    :failure: the check is false in the answer, with its message; a check that exceeds its deadline is reported
        as hanging

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_health_checks():
            return [HealthCheck(name="mount", run=check_mount, deadline=2.0)]
    """


@hookspec
def frepo_doctor_checks() -> Sequence[DoctorCheck]:  # type: ignore[empty-body]
    """Return what `frepo doctor` examines for this plug-in.

    :when: once, at the start; `run` when `frepo doctor` is run, after the checks of the core, if the settings can be
        read
    :thread: `run`: a thread of its own
    :transaction: outside
    :failure: the check is reported as a problem, with its message; so is a check that exceeds its deadline

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_doctor_checks():
            return [DoctorCheck(name="pager", run=examine_pager)]
    """


@hookspec
def frepo_metrics(context: PluginContext) -> Sequence[Any]:  # type: ignore[empty-body]
    """Return collectors of `prometheus_client`.

    :when: when a plug-in asks `context.service.collectors()`
    :thread: the thread that asks
    :transaction: outside
    :failure: the plug-in's collectors are left out, and the log names it

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_metrics(context):
            return [QueueLength(context.service)]
    """
