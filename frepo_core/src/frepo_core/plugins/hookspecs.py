"""The hooks of frepo. docs/hooks.md is generated from this module.

A parameter `context` may be left out of an implementation; frepo passes only what it declares.
"""

from collections.abc import Sequence
from typing import Any

from .checks.health_check import HealthCheck
from .checks.upload_check import UploadCheck
from .checks.upload_policy import UploadPolicy
from .context import PluginContext
from .events.subscriber import Subscriber
from .job import Job
from .lifecycle import Lifecycle
from .markers import hookspec
from .pages import Pages
from .settings import SettingsSpec
from .storages.storage import StorageSpec
from .store_hooks import frepo_event_kinds, frepo_tables  # noqa: F401  # a part of this module
from .strategy import StrategySpec

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_storages() -> list[StorageSpec]:  # type: ignore[empty-body]
    """Return the storage backends of this plug-in.

    :when: once, at the start of the service or of a command
    :thread: the main thread; the methods of a backend are called by many threads at once
    :transaction: outside
    :failure: the start stops and names the package; see `StorageBackend` for the errors of its methods

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_storages():
            return [StorageSpec(name="crate", settings=StorageSettings, build=Crate, summary="a crate")]
    """


@hookspec
def frepo_strategies() -> list[StrategySpec]:  # type: ignore[empty-body]
    """Return the collection strategies of this plug-in.

    :when: once, at the start; `build` too. `make_room` is called for each upload of a version, possibly several
        times
    :thread: `make_room`: a thread of its own; the request waits, at most for two seconds
    :transaction: outside. The transaction that adds the version uses the answer; if the collection has changed since,
    the
        strategy is called again
    :failure: the upload answers 500, the log names the strategy, nothing changes; `CollectionFull` refuses the
        version. A strategy that does not return within two seconds: 503 that names the strategy and its
        package; while four calls hang, it is not called any more

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_strategies():
            return [StrategySpec(name="keep_last", build=KeepLast, options=Options, summary="keeps the last ones")]
    """


@hookspec
def frepo_upload_checks() -> Sequence[UploadCheck]:  # type: ignore[empty-body]
    """Return the checks of uploaded content of this plug-in.

    :when: once, at the start; `run` for each uploaded version, or file, after the content was received and
        hashed, before it is stored
    :thread: `run`: a thread of its own; the request waits, at most for the `deadline`
    :transaction: outside
    :failure: a `Finding` is recorded with the version, or refuses the upload, as `on_finding` says. After any
        other exception, and after the deadline, the content is accepted as `not checked`, and the log names the
        check

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_upload_checks():
            return [UploadCheck(name="not_empty", run=check, on_finding="refuse")]
    """


@hookspec
def frepo_upload_policies(context: PluginContext) -> Sequence[UploadPolicy]:  # type: ignore[empty-body]
    """Return the policies of this plug-in: who may upload, delete or download versions, and when.

    They may depend on `context.settings`. Without a policy for an action, a request costs no more.

    :when: once, at the start; `decide` before each upload, deletion or download of a version that a client or the
        console asks for. An upload is decided about before its content arrives, again after it if its size was not
        known, and with an `Idempotency-Key` after it only. Evictions, and what jobs and other plug-ins read, are not
        asked about
    :thread: `decide`: a thread of its own; the request waits, at most for two seconds
    :transaction: outside
    :failure: a `PolicyRefusal` refuses the request with its reason. After any other exception, and after the
        deadline, `on_failure` decides: the request goes on and the log names the policy, or it is answered with 503.
        While four calls hang, the policy is not called any more

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_upload_policies():
            return [UploadPolicy(name="working_days", decide=decide, actions=("delete",))]
    """


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


@hookspec
def frepo_endpoints(context: PluginContext) -> Sequence[Any]:  # type: ignore[empty-body]
    """Return the HTTP endpoints of this plug-in, each a `frepo_core.web.Endpoint`.

    :when: once, by the web application. Import `frepo_core.web` inside the function, because the console loads
        the plug-in, too, and does not need the web. A view is called for each request, as `view(request)`, or
        as `view(request, context)` if it has two parameters
    :thread: the view: the thread of the request
    :transaction: outside
    :failure: hook: the start stops. View: the errors of frepo are answered as usual, any other exception with
        500; the log names the endpoint

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_endpoints(context):
            from frepo_core.web import Answer, Endpoint, Reply

            class Colour(Reply):
                colour: str

            def show(request):
                return Answer(body=Colour(colour="red"))

            return [
                Endpoint(
                    name="show_acme_colour",
                    method="GET",
                    path="/acme/colour",
                    view=show,
                    summary="Show the colour",
                    permission="token",
                    answers={200: Colour},
                )
            ]
    """


@hookspec
def frepo_pages() -> Sequence[Pages]:  # type: ignore[empty-body]
    """Return the static pages of this plug-in.

    :when: once, by the web application
    :thread: the main thread; the files are sent by the threads of requests
    :transaction: outside
    :failure: the start stops and names the package

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_pages():
            return [Pages(path="acme", folder=Path(__file__).parent / "pages", title="Acme")]
    """


@hookspec
def frepo_settings() -> SettingsSpec:  # type: ignore[empty-body]
    """Return the declaration of the plug-in's settings. The filled model is `context.settings`.

    :when: once, at the start
    :thread: the main thread
    :transaction: outside
    :failure: the start stops. A wrong or unknown setting stops it, too, and is named as in the ini file and as
        in the environment

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_settings():
            return SettingsSpec(prefix="acme", model=AcmeSettings)
    """


@hookspec
def frepo_lifecycle() -> Lifecycle:  # type: ignore[empty-body]
    """Return what the plug-in does when a process starts and stops serving. Of the commands, `frepo worker` serves.

    :when: once, at the start; `start` before the first request, `stop` after the last one
    :thread: the main thread
    :transaction: outside
    :failure: `start`: the process does not start, and lifecycles that did are stopped. `stop`: logged

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_lifecycle():
            return Lifecycle(start=connect, stop=disconnect)
    """
