"""The server of tus for Node.js by the authors of the protocol: it writes parts to files without a sync or a hash."""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from support.servers.processes import free_port, running_process

from .receivers import listens

ENVIRONMENT = Path(__file__).parents[2] / ".venv-peers"
MODULES = ENVIRONMENT / "tus/node_modules"
PATH = "/files"


@contextlib.contextmanager
def tus_server(where: Path) -> Iterator[str]:
    """Run a server with its files below a folder; yield its address. Raises `FileNotFoundError` if it is missing."""
    if not MODULES.is_dir():
        raise FileNotFoundError(f"{MODULES}: make bench-services installs it")
    uploads, port = where / "tus", free_port()
    uploads.mkdir()
    script = Path(__file__).with_suffix(".mjs")
    command = [str(ENVIRONMENT / "bin/node"), str(script), str(MODULES), str(uploads), str(port)]
    with running_process(command, where, partial(listens, port)):
        yield f"127.0.0.1:{port}"
