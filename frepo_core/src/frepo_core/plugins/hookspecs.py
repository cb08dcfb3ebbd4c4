"""The hooks of frepo."""

from collections.abc import Sequence
from typing import Any

import pluggy

from .storage import StorageSpec
from .strategy import StrategySpec

PROJECT = "frepo"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def frepo_storages() -> list[StorageSpec]:  # type: ignore[empty-body]  # pluggy calls the implementations
    """Return the storage backends of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_strategies() -> list[StrategySpec]:  # type: ignore[empty-body]  # pluggy calls the implementations
    """Return the collection strategies of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_endpoints() -> Sequence[Any]:  # type: ignore[empty-body]  # pluggy calls the implementations
    """Return the HTTP endpoints of this plug-in, each a `frepo_core.web.Endpoint`. Only the web application calls it.

    Import `frepo_core.web` inside the function, because the console loads the plug-in, too, and does not need the web.

    .. versionadded:: 0.1
    """
