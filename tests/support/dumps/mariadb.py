"""Backups of MariaDB: mariadb-dump in its forms, and the stream of mariadb-backup."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, make_url, text

from .programs import run
from .sample import Sample

_DATABASES = ("shop", "wiki")
_FILL = (
    "CREATE TABLE orders (id integer PRIMARY KEY, words text)",
    "INSERT INTO orders SELECT seq, CONCAT(MD5(seq), MD5(-seq)) FROM seq_1_to_2500",
    "CREATE VIEW large AS SELECT * FROM orders WHERE id > 1000",
)


@contextmanager
def mariadb_samples(server_url: str, folder: Path) -> Iterator[Mapping[str, Sample]]:
    """Fill two databases, and yield their backups."""
    url = make_url(server_url)
    where = ["--protocol=tcp", "-h", str(url.host), "-P", str(url.port), "-u", str(url.username)]
    with _connect(server_url) as connection:
        for name in _DATABASES:
            connection.execute(text(f"CREATE OR REPLACE DATABASE {name}"))
            connection.execute(text(f"USE {name}"))
            for statement in _FILL:
                connection.execute(text(statement))
        yield dict(_make([*where, f"--password={url.password}"], folder))
        for name in _DATABASES:
            connection.execute(text(f"DROP DATABASE {name}"))


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    engine = create_engine(url.replace("mysql:", "mysql+pymysql:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _make(where: list[str], folder: Path) -> Iterator[tuple[str, Sample]]:
    def dump(*options: str) -> bytes:
        return run("mariadb-dump", "--no-defaults", *where, "--skip-ssl", *options)

    shop, wiki = dump("shop"), dump("--single-transaction", "--routines", "--events", "wiki")
    yield "`mariadb-dump`", Sample(content=shop, file_name="shop.sql")
    several = dump("--skip-extended-insert", "--skip-dump-date", "--databases", "shop", "wiki")
    yield "`mariadb-dump --databases`", Sample(content=several, file_name="all.sql")
    yield "`mariadb-dump --xml`", Sample(content=dump("--xml", "shop"), file_name="shop.xml")
    bare = ["--skip-comments", "--routines", "--events"]
    yield "`mariadb-dump --skip-comments`", Sample(content=dump(*bare, "shop"), file_name="shop.sql")
    both = dump(*bare, "--databases", "shop", "wiki")
    yield "`mariadb-dump --skip-comments --databases`", Sample(content=both, file_name="all.sql")
    killed = [shop[: len(shop) * tenth // 10] + wiki for tenth in range(1, 10)]
    loop = Sample(content=shop + wiki, file_name="all.sql", killed=killed)
    yield "`mariadb-dump` in a loop over databases", loop
    compact = Sample(content=dump("--compact", "shop"), file_name="shop.sql", has_end=False)
    yield "`mariadb-dump --compact`", compact
    command = ["mariadb-backup", "--no-defaults", "--backup", "--stream=xbstream", f"--target-dir={folder}"]
    yield "`mariadb-backup --stream=xbstream`", Sample(content=run(*command, *where), file_name="all.xb")
