"""Sends the bytes of a blob, exactly as many as were announced."""

from socket import socket
from typing import BinaryIO

from frepo_core.plugins import exactly

from .connection import CHUNK, Connection
from .errors import translated


def send(connection: Connection, data: socket, content: BinaryIO, size: int, action: str) -> None:
    """Send `size` bytes and wait for the server's word that it has them.

    What `content` raises passes as it is; then, and when its bytes are more or fewer, the transfer is broken off.
    """
    try:
        for chunk in exactly(content, size, CHUNK):
            with translated(action):
                _send_chunk(connection, data, chunk)
    except BaseException:
        connection.abort(data)
        raise
    with translated(action):
        connection.finish(data)


def _send_chunk(connection: Connection, data: socket, chunk: bytes) -> None:
    """Send a part; where that breaks, the server's own words (452, 552, ...) tell more than the socket's."""
    try:
        data.sendall(chunk)
    except OSError as error:
        data.close()
        refusal = connection.pending_error()
        if refusal is None:
            raise
        raise refusal from error
