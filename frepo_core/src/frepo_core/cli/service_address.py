"""The address of the service in what commands print."""

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frepo_core.settings import Settings

LOCAL = "http://127.0.0.1:6543"
_EVERYWHERE = re.compile(r"^(?:0\.0\.0\.0|\*):")


def address_of(settings: "Settings") -> str:
    """Return the address of the service, as far as the settings say it.

    Without a domain, it is where the service listens: `make serve` keeps that as `FREPO_LISTEN` for commands.
    """
    if settings.app_domain:
        return f"https://{settings.app_domain}{settings.base_path}"
    listen = os.environ.get("FREPO_LISTEN") or os.environ.get("HTTP_LISTEN")
    return f"http://{_EVERYWHERE.sub('127.0.0.1:', listen)}" if listen else LOCAL
