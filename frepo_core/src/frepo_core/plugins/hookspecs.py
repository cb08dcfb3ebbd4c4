"""The hooks of frepo.

A parameter `context` may be left out of an implementation; frepo passes only what it declares.
"""

from collections.abc import Sequence
from typing import Any

import pluggy

from .context import PluginContext
from .health_check import HealthCheck
from .job import Job
from .lifecycle import Lifecycle
from .pages import Pages
from .settings import SettingsSpec
from .storage import StorageSpec
from .strategy import StrategySpec
from .subscriber import Subscriber
from .upload_check import UploadCheck

PROJECT = "frepo"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_storages() -> list[StorageSpec]:  # type: ignore[empty-body]
    """Return the storage backends of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_strategies() -> list[StrategySpec]:  # type: ignore[empty-body]
    """Return the collection strategies of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_upload_checks() -> Sequence[UploadCheck]:  # type: ignore[empty-body]
    """Return the checks of uploaded content of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_subscribers(context: PluginContext) -> Sequence[Subscriber]:  # type: ignore[empty-body]
    """Return the subscribers of this plug-in, which are told what happened. They may depend on `context.settings`.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_jobs(context: PluginContext) -> Sequence[Job]:  # type: ignore[empty-body]
    """Return the periodic jobs of this plug-in. They may depend on `context.settings`.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_health_checks() -> Sequence[HealthCheck]:  # type: ignore[empty-body]
    """Return the checks that `/health` runs.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_metrics(context: PluginContext) -> Sequence[Any]:  # type: ignore[empty-body]
    """Return collectors of `prometheus_client`.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_endpoints(context: PluginContext) -> Sequence[Any]:  # type: ignore[empty-body]
    """Return the HTTP endpoints of this plug-in, each a `frepo_core.web.Endpoint`. Only the web application calls it.

    Import `frepo_core.web` inside the function, because the console loads the plug-in, too, and does not need the web.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_pages() -> Sequence[Pages]:  # type: ignore[empty-body]
    """Return the static pages of this plug-in. Only the web application calls it.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_settings() -> SettingsSpec:  # type: ignore[empty-body]
    """Return the declaration of the plug-in's settings. The filled model is `context.settings`.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_lifecycle() -> Lifecycle:  # type: ignore[empty-body]
    """Return what the plug-in does when a process begins and ends to serve.

    .. versionadded:: 0.1
    """
