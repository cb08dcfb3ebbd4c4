"""frepo-server in a thread of the test's own process, with any WSGI application."""

import contextlib
import threading
from io import BytesIO
from types import SimpleNamespace

from frepo_server.channel import make_server
from frepo_server.graceful_shutdown import run
from frepo_server.idle_timeout import Timeouts

SECONDS = 60


class MemoryBuffer(BytesIO):
    """A body in memory, for the hook `new_buffer`."""

    def append(self, data):
        self.seek(0, 2)
        self.write(data)

    def getfile(self):
        self.seek(0)
        return self

    def __len__(self):
        return len(self.getvalue())


@contextlib.contextmanager
def running_server(application, hooks=None, timeouts=None, stop_seconds=5, **options):
    """Run a server with waitress' `options`. Yield an object with its address, "127.0.0.1:PORT".

    At its end, started requests may continue for `stop_seconds`.
    """
    server = make_server(application, hooks, listen="127.0.0.1:0", **options)
    stop = SimpleNamespace(is_requested=False)
    thread = threading.Thread(target=run, args=[server, stop, stop_seconds, timeouts or Timeouts()])
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
