"""All readers, in the order in which they look at a content."""

from . import mariadb_dump, pg_custom, pg_dump, sqlite_dump, tar_archive, zip_archive

READERS = [one.READER for one in (pg_dump, mariadb_dump, sqlite_dump, pg_custom, tar_archive, zip_archive)]
