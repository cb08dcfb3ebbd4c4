"""Creates backends on the FTP servers of the tests, and helps to use them."""

import time
from itertools import count

import pytest

from frepo_core.testing import Source
from frepo_storage_ftp import FtpSettings
from frepo_storage_ftp.backend import FtpStorage
from support.servers.proftpd import MISSING, PASSWORD, USER

needs_proftpd = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")

FULL = "MaxStoreFileSize 30 Kb"
SIZE = 8 << 20  # more than the sockets' buffers hold
numbers = count()


def storage(server, *, tls=True, **settings) -> FtpStorage:
    """Build a storage with a separate root on the server."""
    defaults = {
        "host": "localhost",
        "port": server.port,
        "username": USER,
        "password": PASSWORD,
        "root": f"{next(numbers)}/blobs",
        "ssl": tls,
        "ssl_ca_file": server.ca if tls else None,
        "timeout": 60,
    }
    return FtpStorage(FtpSettings(**(defaults | settings)))


def put(backend, key="aa/blob", size=1000):
    backend.store(key, Source(size).file, size)


def keys(backend):
    return [blob.key for blob in backend.list()]


def await_sessions(server, count):
    """Wait until the server has at most this number of sessions; it notices a disconnect with a delay."""
    until = time.monotonic() + 60
    while len(server.sessions()) > count:
        assert time.monotonic() < until
        time.sleep(0.02)
