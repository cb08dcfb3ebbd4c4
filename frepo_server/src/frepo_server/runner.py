"""Starts the server for an ini file: its address can be changed without editing the file."""

import os
import sys
from typing import Any, NoReturn

from .application import hooks_of
from .channel import make_server
from .graceful_shutdown import Stop, run
from .idle_timeout import Timeouts

DEFAULT_LISTEN = "127.0.0.1:6543"
SWITCH_SECONDS = 1e-4
# The head and the body of a small answer leave together; by default waitress sends each piece by itself.
SEND_BYTES = 64 << 10
STOP_SECONDS = 1800.0
MAX_PORT = 65535


def serve(app: object, global_config: dict[str, Any], **settings: Any) -> None:
    """Serve until a signal ends it (`paste.server_runner`); the settings are those of waitress, and those of `Timeouts`.

    The address is the environment's HTTP_LISTEN, else `http_listen=...` of pserve's command line, else `listen`.
    """
    listen = (
        os.environ.get("HTTP_LISTEN") or global_config.get("http_listen") or settings.get("listen") or DEFAULT_LISTEN
    )
    stop = Stop()
    # Threads hand the interpreter's lock over fifty times sooner than by default; otherwise a small answer waits
    # 5 ms at each hand-over between the thread that reads sockets and the workers.
    sys.setswitchinterval(SWITCH_SECONDS)
    hooks = hooks_of(app)
    # The application decides which proxies to trust (trusted_proxies); waitress would drop their headers.
    options = {"clear_untrusted_proxy_headers": False, "send_bytes": SEND_BYTES} | settings | {"listen": listen}
    try:
        timeouts, options = Timeouts.take(options)
    except ValueError as error:
        _give_up(f"frepo cannot start: {error}. It is set in [server:main] of the ini file.")
    try:
        _check_ports(listen)
        server = make_server(app, hooks, **options)
    except (OSError, ValueError) as error:
        _give_up(
            f"frepo cannot listen on {listen}: {error}. HTTP_LISTEN, or http_listen= after the ini file of pserve, "
            "names another address, e.g. 127.0.0.1:7000."
        )
    server.print_listen("Serving on http://{}:{}")
    run(server, stop, hooks.stop_seconds if hooks else STOP_SECONDS, timeouts)
    if hooks:
        hooks.close()


def _check_ports(listen: str) -> None:
    """Raise `ValueError` for a port that does not exist; the system would use it modulo 65536."""
    for address in listen.split():
        port = address.rpartition(":")[2]
        if port.isdigit() and int(port) > MAX_PORT:
            raise ValueError(f"there is no port {port}, the highest is {MAX_PORT}")


def _give_up(message: str) -> NoReturn:
    """End the process with status 1; pserve takes `SystemExit` for an orderly end, and ends with 0."""
    print(message, file=sys.stderr, flush=True)
    os._exit(1)
