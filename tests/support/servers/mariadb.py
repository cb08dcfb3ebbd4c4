"""MariaDB as a child process in a temporary folder."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator

import pymysql

from support.servers.processes import folder_of, free_port, run_as, running_process

MISSING = None if shutil.which("mariadbd") else "mariadb-server is not installed: make services"
OWNER = "mysql"
USER, PASSWORD = "frepo", "mariadb_5ecre7"


@contextlib.contextmanager
def mariadb() -> Iterator[str]:
    """Start a server; yield the URL of its database `frepo`, without the driver's part.

    MariaDB 10.11 sometimes crashes while it starts; then it is started once more.
    """
    with contextlib.ExitStack() as stack:
        try:
            url = stack.enter_context(_run())
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"MariaDB did not start, once more: {error}")
            url = stack.enter_context(_run())
        yield url


@contextlib.contextmanager
def _run() -> Iterator[str]:
    with folder_of(OWNER) as folder:
        data = folder / "data"
        subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"]
            + ["--skip-test-db", "--skip-name-resolve"],
            check=True,
            cwd=folder,
            capture_output=True,
            **run_as(OWNER),
        )
        start = folder / "start.sql"
        start.write_text(
            # Its own default until 11.5, in which it cannot store every text.
            "CREATE DATABASE frepo CHARACTER SET latin1;\n"
            f"CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';\n"
            f"GRANT ALL ON *.* TO '{USER}'@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        start.chmod(0o644)
        port = free_port()
        command = ["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={folder}/socket", f"--port={port}"]
        command += ["--bind-address=127.0.0.1", f"--pid-file={folder}/pid", f"--init-file={start}"]
        command += ["--skip-name-resolve", "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"]
        command += ["--innodb-flush-method=nosync", "--skip-log-bin", "--innodb-doublewrite=0"]
        # By default it uses io_uring, and reserves 8 TiB of address space for a larger pool.
        command += ["--skip-innodb-use-native-aio", "--innodb-buffer-pool-size-max=64M"]

        def answers() -> bool:
            """Return whether this server answers: that of another worker may have the port, and has the same users."""
            access = {"user": USER, "password": PASSWORD, "database": "frepo"}
            try:
                with pymysql.connect(host="127.0.0.1", port=port, **access) as connection:
                    cursor = connection.cursor()
                    cursor.execute("SELECT @@datadir")
                    return bool(cursor.fetchone() == (f"{data}/",))
            except pymysql.err.OperationalError:
                return False

        with running_process(command, folder, answers, **run_as(OWNER)):
            # An OpenSSL context would take 20 ms for each connection.
            yield f"mysql://{USER}:{PASSWORD}@127.0.0.1:{port}/frepo?ssl_disabled=true"
