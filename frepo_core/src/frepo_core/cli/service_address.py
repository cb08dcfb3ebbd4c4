"""The address of the service in what commands print."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frepo_core.settings import Settings

LOCAL = "http://127.0.0.1:6543"


def address_of(settings: "Settings") -> str:
    """Return the address of the service, as far as the settings say it."""
    return f"https://{settings.app_domain}{settings.base_path}" if settings.app_domain else LOCAL
