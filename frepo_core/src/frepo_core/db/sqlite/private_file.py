"""Makes the file of an SQLite database, which only its owner can read: it has names, addresses and HMACs of tokens.

SQLite would make it with the rights that the umask leaves. Its log and its shared memory get those of the database.
"""

import contextlib
import os
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import Engine, event


def make_files_private(engine: Engine) -> None:
    """Let each connection make the database with mode 0600 if it does not exist, whatever the umask."""

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, options: Any) -> None:
        name = str(arguments[0])
        path = unquote(urlsplit(name).path) if name.startswith("file:") else name
        # A folder that is missing, or a disk that is full, is an error of SQLite, which names it.
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
