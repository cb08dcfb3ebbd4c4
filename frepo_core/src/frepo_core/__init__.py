"""frepo: stores files and keeps versioned backups, controlled by access tokens alone."""

import atexit
import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from frepo_core.plugins.registry import PluginRegistry
    from frepo_core.services.composition.container import Services

log = logging.getLogger(__name__)

# Imports are local, because `frepo` imports this package, too, and must start fast.


def main(global_config: dict[str, Any], **settings: str) -> object:
    """Build the WSGI application from the settings of an ini file (`paste.app_factory`).

    If the service cannot start, it raises `SystemExit` with a message that says what to change.
    """
    from frepo_core import gc_pause

    gc_pause.pause()
    from frepo_core.errors import FrepoError

    try:
        from frepo_core.log_stream import guard_output
        from frepo_core.services.base.log_records import log_safely
        from frepo_core.services.composition.startup import make_ready, warn_about_first_storage, warn_about_strategies
        from frepo_core.services.content.mime_detection import detect_type
        from frepo_core.web import make_app

        log_safely()
        guard_output()
        services = assemble(settings)
        services.build_all()
        make_ready(services.database, services.settings, services.plugins, services.backends)
        warn_about_first_storage(services.database, services.backends, services.settings)
        services.database.refill_reserve()
        warn_about_strategies(services.database, services.plugins)
        detect_type(b"")  # fails here, and not at the first upload, if libmagic cannot be loaded
        app = make_app(services)
        _start(services)
        return app
    except FrepoError as error:
        raise SystemExit(f"frepo cannot start. {error.message}") from error
    finally:
        gc_pause.resume()


def assemble(
    ini: Mapping[str, str],
    environment: Mapping[str, str] = os.environ,
    plugins: "PluginRegistry | None" = None,
    engine: Any = None,
) -> "Services":
    """Return the services with all features, see `services.composition.assembly.assemble`."""
    from frepo_core.features import assembly
    from frepo_core.services.composition.assembly import assemble

    return assemble(ini, environment, plugins, engine, features=assembly.FEATURES)


def serve(app: object, global_config: dict[str, Any], **settings: Any) -> None:
    """Serve with the installed server (`paste.server_runner`), for ini files that still name this package."""
    from importlib.metadata import entry_points

    for runner in entry_points(group="paste.server_runner", name="waitress"):
        if runner.dist and runner.dist.name != "frepo-core":
            log.warning(
                "Change the ini file to `use = egg:%s#waitress`; egg:frepo-core#waitress is the old name",
                runner.dist.name,
            )
            runner.load()(app, global_config, **settings)
            return
    print(  # noqa: T201  # there is no log yet
        "frepo cannot start. `use = egg:frepo-core#waitress` needs the package frepo-server: pip install frepo-server, "
        "and write `use = egg:frepo-server#waitress` in the ini. Or write `use = egg:waitress#main`.",
        file=sys.stderr,
        flush=True,
    )
    os._exit(1)  # pserve would exit with 0 after `SystemExit`


def _start(services: "Services") -> None:
    """Report mistakes of the installation, and start what plug-ins run while the process serves.

    frepo-server stops it after the last request. With other servers, it is stopped at the exit of the process, also
    after SIGTERM, which would otherwise end Python without one.
    """
    from frepo_core.plugins.mistakes import find_deprecated_uses, find_mistakes

    mistakes = find_mistakes(services.settings.plugins_disabled)
    for text in (*mistakes, *find_deprecated_uses(services.plugins.found)):
        log.warning("%s", text)
    services.service_time.start()
    atexit.register(services.service_time.stop)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
