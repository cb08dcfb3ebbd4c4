"""frepo: stores files and keeps versioned backups, controlled by access tokens alone."""

import contextlib
import gc
import logging
import os
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

log = logging.getLogger(__name__)

# Imports are within the functions, as the console imports this package, too, and has to answer at once.


def main(global_config: dict[str, Any], **settings: str) -> object:
    """Build the WSGI application from the settings of an ini file (`paste.app_factory`).

    What keeps the service from starting ends the program with what to change (`SystemExit`), without a traceback.
    """
    with _kept():
        from frepo_core.errors import FrepoError
        from frepo_core.services.container import assemble
        from frepo_core.services.content.mime_detection import detect_type
        from frepo_core.services.startup import make_ready
        from frepo_core.web import make_app

        try:
            services = assemble(settings)
            make_ready(services.database, services.settings)
            services.database.refill_reserve()
            detect_type(b"")  # a libmagic that cannot be loaded is found now, not by the first upload
            return make_app(services)
        except FrepoError as error:
            raise SystemExit(f"frepo cannot start. {error.message}") from error


def serve(app: object, global_config: dict[str, Any], **settings: Any) -> None:
    """Serve with the installed server (`paste.server_runner`), for ini files that still name this package."""
    for runner in entry_points(group="paste.server_runner", name="waitress"):
        if runner.dist and runner.dist.name != "frepo-core":
            log.warning(
                "Write `use = egg:%s#waitress` in the ini; egg:frepo-core#waitress is its old name", runner.dist.name
            )
            runner.load()(app, global_config, **settings)
            return
    print(
        "frepo cannot start. `use = egg:frepo-core#waitress` needs the package frepo-server: pip install frepo-server, "
        "and write `use = egg:frepo-server#waitress` in the ini. Or write `use = egg:waitress#main`.",
        file=sys.stderr,
        flush=True,
    )
    os._exit(1)  # pserve takes `SystemExit` for an orderly end, and ends with 0


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Look for no garbage while the service is built, and once for all not in what it is made of, which stays."""
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
        gc.enable()
