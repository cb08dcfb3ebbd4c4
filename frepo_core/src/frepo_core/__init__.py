"""frepo: stores files and keeps versioned backups, controlled by access tokens alone."""

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

# Imports are within the functions, as the console imports this package, too, and has to answer at once.


def main(global_config: dict[str, Any], **settings: str) -> object:
    """Build the WSGI application from the settings of an ini file (`paste.app_factory`).

    What keeps the service from starting ends the program with what to change (`SystemExit`), without a traceback.
    """
    with _kept():
        from frepo_core.db import migrations
        from frepo_core.errors import FrepoError
        from frepo_core.services.assembly import assemble
        from frepo_core.services.sniffing import sniff
        from frepo_core.web import make_app

        try:
            services = assemble(settings)
            migrations.make_ready(services.database.engine, upgrades=services.settings.database_auto_upgrade)
            sniff(b"")  # a libmagic that cannot be loaded is found now, not by the first upload
            return make_app(services)
        except FrepoError as error:
            raise SystemExit(f"frepo cannot start. {error.message}") from error


def serve(app: object, global_config: dict[str, Any], **settings: Any) -> None:
    """Serve until a signal ends it (`paste.server_runner`); the settings are waitress' own."""
    from frepo_core.web.server import serve

    serve(app, global_config, **settings)


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
