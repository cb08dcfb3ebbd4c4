"""Starts the server from an ini file."""

import difflib
import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn

from waitress.adjustments import Adjustments

from .application import ServerHooks, hooks_of
from .channel import make_server
from .graceful_shutdown import StopSignal, run
from .idle_timeout import Timeouts

DEFAULT_LISTEN, OTHER = "127.0.0.1:6543", "127.0.0.1:7000"
SWITCH_SECONDS = 1e-4
# Head and body of a small answer are sent together; waitress sends each part separately by default.
SEND_BYTES = 64 << 10
STOP_SECONDS = 1800.0
MAX_PORT = 65535


_KNOWN = {name: cast for name, cast in Adjustments._params if name != "sockets"}
_TIMEOUTS = frozenset(each.name for each in fields(Timeouts))


def check_options(options: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a setting that waitress and `Timeouts` do not know, or whose value it cannot read."""
    for name, value in options.items():
        if name in _TIMEOUTS:
            continue
        if name not in _KNOWN:
            raise ValueError(f"{name} is no setting of the server{_near(name)}")
        try:
            read = _KNOWN[name](value)
        except ValueError:
            raise ValueError(f"{name} = {value} is not a whole number") from None
        if name == "threads" and read < 1:
            raise ValueError(f"{name} = {value} serves no request: write 1 or more")


def _near(name: str) -> str:
    near = difflib.get_close_matches(name, [*_KNOWN, *_TIMEOUTS], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def serve(app: object, global_config: dict[str, Any], **settings: Any) -> None:
    """Serve until SIGTERM (`paste.server_runner`). The settings are those of waitress and of `Timeouts`.

    The address is the environment's HTTP_LISTEN, else `http_listen=...` of the command line, else `listen`.
    """
    listen = (
        os.environ.get("HTTP_LISTEN") or global_config.get("http_listen") or settings.get("listen") or DEFAULT_LISTEN
    )
    stop = StopSignal()
    # 5 ms by default, which a small answer would wait at each hand-over between the thread that reads sockets and the
    # workers.
    sys.setswitchinterval(SWITCH_SECONDS)
    hooks = hooks_of(app)
    # The application decides which proxies to trust (trusted_proxies); waitress would remove their headers.
    options = {"clear_untrusted_proxy_headers": False, "send_bytes": SEND_BYTES} | settings | {"listen": listen}
    try:
        check_options(options)
        timeouts, options = Timeouts.from_settings(options)
    except ValueError as error:
        _exit_with_error(f"frepo cannot start: {error}. It is set in [server:main] of the ini file.", hooks)
    try:
        _check_ports(listen)
        server = make_server(app, hooks, **options)
    except (OSError, ValueError) as error:
        _exit_with_error(
            f"frepo cannot listen on {listen}: {error}. Take another address: `make serve HTTP_LISTEN={OTHER}`, or "
            f"`frepo serve --listen {OTHER}`.",
            hooks,
        )
    if hooks:
        hooks.serve_with(server.task_dispatcher)
    server.print_listen("Serving on http://{}:{}")
    run(server, stop, hooks.stop_seconds if hooks else STOP_SECONDS, timeouts)
    if hooks:
        hooks.close()


# `frepo serve` looks for it here, before it starts anything.
serve.check_settings = check_options  # type: ignore[attr-defined]


def _check_ports(listen: str) -> None:
    """Raise `ValueError` for ports above 65535; the system would use them modulo 65536."""
    for address in listen.split():
        port = address.rpartition(":")[2]
        if port.isdigit() and int(port) > MAX_PORT:
            raise ValueError(f"port {port} does not exist, the highest port is {MAX_PORT}")


def _exit_with_error(message: str, hooks: ServerHooks | None) -> NoReturn:
    """Close the application and end the process with status 1. With `SystemExit`, pserve would end with status 0."""
    if hooks:
        hooks.close()
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()
    os._exit(1)
