"""Runs waitress for an ini file: its address can be moved, its stop is orderly."""

import os
import sys
from typing import Any, NoReturn

from frepo_core.services.intake import Intake

from .connections import make_server
from .draining import Stop, run

DEFAULT_LISTEN = "127.0.0.1:6543"
SWITCH_SECONDS = 1e-4
# So the head and the body of a small answer go out together; by default waitress sends each piece by itself.
SEND_BYTES = 64 << 10
DRAIN_SECONDS = 1800.0


def serve(app: object, global_config: dict[str, Any], **settings: Any) -> None:
    """Serve until a signal ends it (`paste.server_runner`); the settings are waitress' own.

    The address is the environment's HTTP_LISTEN, else `http_listen=...` of pserve's command line, else `listen`.
    """
    listen = (
        os.environ.get("HTTP_LISTEN") or global_config.get("http_listen") or settings.get("listen") or DEFAULT_LISTEN
    )
    stop = Stop()
    # The thread that reads sockets and the workers pass the interpreter's lock on fifty times sooner than by
    # default; otherwise a small answer waits 5 ms at each hand-over.
    sys.setswitchinterval(SWITCH_SECONDS)
    services = getattr(getattr(app, "registry", None), "services", None)  # a filter around the application has none
    intake = services.intake if services else Intake(None)
    # Which proxies are believed, the application decides (trusted_proxies); waitress would drop their headers.
    options = {"clear_untrusted_proxy_headers": False, "send_bytes": SEND_BYTES} | settings | {"listen": listen}
    try:
        server = make_server(app, intake.directory, intake.hashers, **options)
    except (OSError, ValueError) as error:
        _give_up(
            f"frepo cannot listen on {listen}: {error}. HTTP_LISTEN, or http_listen= after the ini file of pserve, "
            "names another address, e.g. 127.0.0.1:7000."
        )
    server.print_listen("Serving on http://{}:{}")
    run(server, stop, services.settings.long_execution_time if services else DRAIN_SECONDS)
    if services:
        services.database.engine.dispose()  # SQLite puts its log of writes into the file when the last one leaves


def _give_up(message: str) -> NoReturn:
    """End the process with status 1; pserve takes `SystemExit` for an orderly end, and ends with 0."""
    print(message, file=sys.stderr, flush=True)
    os._exit(1)
