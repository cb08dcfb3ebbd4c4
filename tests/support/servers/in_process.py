"""frepo-server in a thread of the test's own process, with any WSGI application."""

import contextlib
import threading
from types import SimpleNamespace

from frepo_server.channel import make_server
from frepo_server.graceful_shutdown import run
from frepo_server.idle_timeout import Timeouts

SECONDS = 20


@contextlib.contextmanager
def running_server(application, hooks=None, timeouts=None, **options):
    """Run a server with waitress' `options`. Yield an object with its address, "127.0.0.1:PORT"."""
    server = make_server(application, hooks, listen="127.0.0.1:0", asyncore_use_poll=True, **options)
    stop = SimpleNamespace(is_requested=False)
    thread = threading.Thread(target=run, args=[server, stop, 5, timeouts or Timeouts()])
    thread.start()
    try:
        yield SimpleNamespace(address=f"127.0.0.1:{server.effective_port}")
    finally:
        # The server's own thread sets it, as by the signal handler, and then closes the trigger. It needs the lock for
        # that, so the trigger is pulled before.
        with server.trigger.lock:
            server.trigger.thunks.append(lambda: setattr(stop, "is_requested", True))
            server.trigger.pull_trigger()
        thread.join(SECONDS)
        assert not thread.is_alive()
