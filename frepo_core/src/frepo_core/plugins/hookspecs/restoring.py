"""The hook about restore tests."""

from collections.abc import Sequence

from ..markers import hookspec
from ..restore_engine import RestoreEngine

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_restore_engines() -> Sequence[RestoreEngine]:  # type: ignore[empty-body]
    """Return the engines of this plug-in: programs that restore a backup, to test that it can be restored.

    :when: once, at the start, and in each box; `restore` for each test with the engine
    :thread: `restore`: the main thread of a process of its own, in a box with limits and without a network
    :transaction: outside
    :failure: hook: the start stops. `restore`: the outcome is `not checked`, and the result says why; `NotRestored`
        condemns the version

    .. versionadded:: 0.2

    Example::

        @hookimpl
        def frepo_restore_engines():
            return [RestoreEngine(name="acme", label="Acme box", restore=restore_box, language="SQL")]
    """
