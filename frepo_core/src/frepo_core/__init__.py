"""frepo: stores files and keeps versioned backups, controlled by access tokens alone."""

from typing import Any


def main(global_config: dict[str, Any], **settings: str) -> object:
    """Build the WSGI application from the settings of an ini file (`paste.app_factory`).

    What keeps the service from starting ends the program with what to change (`SystemExit`), without a traceback.
    """
    # Imported here, as the console imports this package, too, and has to answer at once.
    from frepo_core.db import migrations
    from frepo_core.errors import FrepoError
    from frepo_core.services import assemble
    from frepo_core.web import make_app

    try:
        services = assemble(settings)
        migrations.make_ready(services.database.engine, upgrades=services.settings.database_auto_upgrade)
        return make_app(services)
    except FrepoError as error:
        raise SystemExit(f"frepo cannot start. {error.message}") from error
