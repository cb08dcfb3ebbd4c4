"""The hooks for what a plug-in keeps in the database."""

from collections.abc import Sequence

from ..events.event_kind import PluginEventKind
from ..markers import hookspec
from ..tables import Tables


@hookspec
def frepo_tables() -> Tables:  # type: ignore[empty-body]
    """Return the declaration of the plug-in's own tables. `context.service.store` uses them.

    :when: when the database is migrated or its schema checked: at the start, and by commands. Import the models inside
        the function
    :thread: the main thread
    :transaction: outside; the revisions run in the transaction of an upgrade
    :failure: the start stops and names the package, also if the tables are not those of the newest revision

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_tables():
            from .models import Base

            return Tables(models=Base, migrations=Path(__file__).parent / "migrations")
    """


@hookspec
def frepo_event_kinds() -> Sequence[PluginEventKind]:  # type: ignore[empty-body]
    """Return the kinds of events that this plug-in records.

    :when: once, at the start; record them with `context.service.store`
    :thread: the main thread
    :transaction: outside; an event is recorded in the transaction of its fact
    :failure: the start stops and names the package

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_event_kinds():
            return [PluginEventKind(name="acme.painted", sentence="A wall was painted.", keys=("colour",))]
    """
