"""All readers, in the order in which they look at a content. A format is imported when a content is looked at."""

from importlib import import_module

from frepo_core.plugins import PartReader


def _reader(module: str, name: str, label: str, suffix: str = "", extractor: str = "pieces") -> PartReader:
    """Return the reader of a format: `recognizes` and `list_parts` of a module, and `extract` of `extractor`."""
    path, extracting = f"{__package__}.{module}", f"{__package__}.{extractor}"
    return PartReader(
        name=name,
        label=label,
        recognizes=lambda head: bool(import_module(path).recognizes(head)),
        list=lambda file: import_module(path).list_parts(file),
        extract=lambda file, part: import_module(extracting).extract(file, part),
        suffix=suffix,
    )


READERS = [
    _reader("pg_dump", "pg_dump", "PostgreSQL dump", ".sql"),
    _reader("mariadb_dump", "mariadb_dump", "MySQL/MariaDB dump", ".sql"),
    _reader("sqlite_dump", "sqlite_dump", "SQLite dump", ".sql"),
    _reader("pg_custom", "pg_custom", "PostgreSQL archive", ".sql", extractor="pg_custom"),
    _reader("tar_archive", "tar", "tar archive"),
    _reader("zip_archive", "zip", "zip archive", extractor="zip_archive"),
]
