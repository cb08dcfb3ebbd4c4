"""Sends the bytes of a blob."""

from socket import socket
from typing import BinaryIO

from frepo_core.plugins import exactly

from .connection import CHUNK, Connection
from .errors import translated


def send(connection: Connection, data: socket, content: BinaryIO, size: int, action: str) -> None:
    """Send exactly `size` bytes and wait for the server's confirmation.

    Aborts the transfer if `content` has more or fewer bytes, or raises. Its exceptions are raised unchanged.
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
    """Send a chunk. If that fails, raise the server's reply (452, 552, ...) rather than the error of the socket."""
    try:
        data.sendall(chunk)
    except OSError as error:
        data.close()
        refusal = connection.pending_error()
        if refusal is None:
            raise
        raise refusal from error
