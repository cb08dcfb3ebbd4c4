"""frepo: stores files and keeps versioned backups, controlled by access tokens alone."""

from typing import Any


def main(global_config: dict[str, Any], **settings: str) -> object:
    """Build the WSGI application from the settings of an ini file (`paste.app_factory`).

    Raises `ConfigurationError` with what to change; nothing is served then.
    """
    # Imported here, as the console imports this package, too, and has to answer at once.
    from frepo_core.db import migrations
    from frepo_core.services import assemble
    from frepo_core.web import make_app

    services = assemble(settings)
    migrations.make_ready(services.database.engine, upgrades=services.settings.database_auto_upgrade)
    return make_app(services)
