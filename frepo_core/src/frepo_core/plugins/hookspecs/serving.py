"""The hooks about the web, settings and processes."""

from collections.abc import Sequence
from typing import Any

from ..console_slot import ConsoleSlot
from ..context import PluginContext
from ..lifecycle import Lifecycle
from ..markers import hookspec
from ..pages import Pages
from ..settings import SettingsSpec

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_endpoints(context: PluginContext) -> Sequence[Any]:  # type: ignore[empty-body]
    """Return the HTTP endpoints of this plug-in, each a `frepo_core.web.Endpoint`.

    :when: once, by the web application. Import `frepo_core.web` inside the function, because `frepo` loads
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
def frepo_console_slots() -> Sequence[ConsoleSlot]:  # type: ignore[empty-body]
    """Return what this plug-in shows in places of the web console.

    :when: once, at the start; the console loads a module when it shows the place
    :thread: the main thread; the modules run in the browser
    :transaction: outside
    :failure: hook: the start stops and names the package, also if the module is not a file of the plug-in's pages.
        Module: if it cannot be loaded, throws, or does not answer within ten seconds, the console says so in its
        place, with the name of the package; the rest of the page works

    .. versionadded:: 0.1

    Example::

        @hookimpl
        def frepo_console_slots():
            return [ConsoleSlot(place="collection.card", name="acme", title="Acme", module="acme/card.js")]
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
