"""The questions that frepo asks its plug-ins."""

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
    """Name the storage backends of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_strategies() -> list[StrategySpec]:  # type: ignore[empty-body]  # pluggy calls the implementations
    """Name the collection strategies of this plug-in.

    .. versionadded:: 0.1
    """


@hookspec
def frepo_endpoints() -> Sequence[Any]:  # type: ignore[empty-body]  # pluggy calls the implementations
    """Declare the HTTP endpoints of this plug-in, each a `frepo_core.web.Endpoint`; asked by the web alone.

    Import `frepo_core.web` inside the function: the console asks a plug-in for its storages, too, and needs no web.

    .. versionadded:: 0.1
    """
