"""A relay between a service and its database, which counts how often the service waits for an answer."""

import contextlib
import select
import socket
import threading


class Relay:
    """Listens on a port of 127.0.0.1 and passes all bytes on. `trips` counts requests that follow an answer."""

    def __init__(self, host: str, port: int) -> None:
        self.trips = 0
        self._target = host, port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._target) as server, contextlib.suppress(OSError):
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            has_answered = True
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    if not (data := ready.recv(1 << 16)):
                        return
                    if ready is client:
                        self.trips += has_answered
                        has_answered = False
                        server.sendall(data)
                    else:
                        has_answered = True
                        client.sendall(data)
