"""The formats that are checked in one pass, by their names in the settings."""

from .archives import cpio, git_bundle, qcow2, seven_zip, squashfs
from .dumps import etcd_snapshot, pg_custom, redis_rdb, sqlite_file, xbstream
from .encrypted import age, openpgp

_MODULES = (
    *(etcd_snapshot, pg_custom, redis_rdb, sqlite_file, xbstream),
    *(cpio, git_bundle, qcow2, seven_zip, squashfs),
    *(age, openpgp),
)
# Programs that write one of these write no other text to the same place.
DUMPS = {"pgdump", "sqlite", "rdb", "etcd", "xbstream"}
FORMATS = {module.FORMAT.kind: module.FORMAT for module in _MODULES}
