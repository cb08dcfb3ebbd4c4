"""Backups of PostgreSQL: pg_dump in its formats, pg_dumpall, pg_basebackup."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, make_url, text

from .programs import run
from .sample import Sample

_DATABASES = ("shop", "wiki")
_FILL = (
    "CREATE TABLE orders (id integer PRIMARY KEY, words text)",
    "CREATE TABLE empty (id integer)",
    "INSERT INTO orders SELECT n, md5(n::text) || md5((-n)::text) FROM generate_series(1, 2500) n",
    "SELECT lo_from_bytea(0, decode(repeat('ab', 9000), 'hex')) FROM generate_series(1, 2)",
)


@contextmanager
def postgresql_samples(server_url: str, folder: Path) -> Iterator[Mapping[str, Sample]]:
    """Fill two databases, and yield their backups."""
    url = make_url(server_url)
    where = ["-h", str(url.host), "-p", str(url.port), "-U", str(url.username)]
    password = {"PGPASSWORD": str(url.password)}
    with _connect(server_url) as server:
        for name in _DATABASES:
            server.execute(text(f"DROP DATABASE IF EXISTS {name}"))
            server.execute(text(f"CREATE DATABASE {name}"))
            with _connect(url.set(database=name).render_as_string(hide_password=False)) as connection:
                for statement in _FILL:
                    connection.execute(text(statement))
        yield dict(_make(where, password, folder))
        for name in _DATABASES:
            server.execute(text(f"DROP DATABASE {name}"))


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _make(where: list[str], password: dict[str, str], folder: Path) -> Iterator[tuple[str, Sample]]:
    def dump(program: str, *options: str) -> bytes:
        return run(program, *where, *options, **password)

    shop, wiki = dump("pg_dump", "shop"), dump("pg_dump", "--create", "wiki")
    roles = dump("pg_dumpall", "--globals-only")
    yield "`pg_dump`", Sample(content=shop, file_name="shop.sql")
    yield "`pg_dump --create`", Sample(content=wiki, file_name="wiki.sql")
    yield "`pg_dump --inserts`", Sample(content=dump("pg_dump", "--inserts", "shop"), file_name="shop.sql")
    yield "`pg_dumpall`", Sample(content=dump("pg_dumpall"), file_name="all.sql")
    yield "`pg_dumpall --globals-only`, then `pg_dump`", _one_after_the_other(roles, shop)
    yield "`pg_dump` in a loop over databases", _one_after_the_other(shop, wiki)
    yield "`pg_dump -Fc`", Sample(content=dump("pg_dump", "-Fc", "shop"), file_name="shop.dump")
    for options in (["-Z0"], ["--schema-only"]):
        made = dump("pg_dump", "-Fc", *options, "shop")
        yield f"`pg_dump -Fc {' '.join(options)}`", Sample(content=made, file_name="shop.dump", is_listed=False)
    dump("pg_dump", "-Fc", f"--file={folder}/shop.dump", "shop")  # seekable, so it says where each table is
    made = (folder / "shop.dump").read_bytes()
    yield "`pg_dump -Fc --file`", Sample(content=made, file_name="shop.dump", is_listed=False)
    yield "`pg_dump -Ft`", Sample(content=dump("pg_dump", "-Ft", "shop"), file_name="shop.tar")
    dump("pg_dump", "-Fd", "-f", str(folder / "shop"), "shop")
    whole = run("tar", "-c", "shop", folder=folder)
    (folder / "shop/toc.dat").unlink()  # pg_dump writes it last
    yield "`pg_dump -Fd` in tar", Sample(content=whole, file_name="shop.tar", killed=_cut_folders(folder))
    base = dump("pg_basebackup", "-Ft", "-X", "none", "--checkpoint=fast", "-D", "-")
    yield "`pg_basebackup -Ft`", Sample(content=base, file_name="base.tar")
    rows = run("psql", *where, "-c", "COPY orders TO STDOUT CSV", "shop", **password)
    yield "CSV", Sample(content=rows, file_name="orders.csv", has_end=False)


def _one_after_the_other(first: bytes, second: bytes) -> Sample:
    """Return two dumps in one stream, of which either may be cut."""
    killed = [first[: len(first) * tenth // 10] + second for tenth in range(1, 10)]
    killed += [first + second[: len(second) * tenth // 10] for tenth in range(1, 10)]
    return Sample(content=first + second, file_name="all.sql", killed=killed)


def _cut_folders(folder: Path) -> list[bytes]:
    """Return archives of the folder `shop` as a killed pg_dump leaves it: with fewer and fewer files."""
    archives = []
    files = sorted(path for path in (folder / "shop").iterdir() if path.suffix == ".gz")
    while files:
        last = files.pop()
        last.write_bytes(last.read_bytes()[: last.stat().st_size // 2])
        archives.append(run("tar", "-c", "shop", folder=folder))
        last.unlink()
    return archives
