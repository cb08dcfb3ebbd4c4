"""The name under which a content is saved: its extension says how it is compressed."""

from collections.abc import Mapping

UNKNOWN = "application/octet-stream"
# The extension that is added comes first. Those of compressed archives stand for two.
COMPRESSIONS: Mapping[str, tuple[str, ...]] = {
    "application/gzip": (".gz", ".tgz"),
    "application/x-bzip2": (".bz2", ".tbz2", ".tbz"),
    "application/x-lz4": (".lz4",),
    "application/x-lzip": (".lz",),
    "application/x-xz": (".xz", ".txz"),
    "application/zstd": (".zst", ".tzst"),
}


def saved_name(name: str, mime: str) -> str:
    """Return a name whose extension fits a content of this type.

    What was sent with `Content-Encoding: gzip` is stored without it: under the name `shop.sql.gz`, no program would
    read it. The name stays if the type of the content is not known, as that of encrypted ones.
    """
    if mime == UNKNOWN:
        return name
    for compression, extensions in COMPRESSIONS.items():
        if (extension := next((one for one in extensions if name.lower().endswith(one)), None)) is None:
            continue
        if compression == mime:
            return name
        name = (name[: -len(extension)] or name) + (".tar" if extension.startswith(".t") else "")
        break
    return name + COMPRESSIONS[mime][0] if mime in COMPRESSIONS else name
