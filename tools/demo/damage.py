"""Damages the bytes of one version in its storage on purpose, as a failing disk would."""

import io

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import File, StoredObject, Version
from frepo_core.services.content.storages.backends import Backends


def damage_version(database: Database, backends: Backends, collection_id: str) -> int | None:
    """Change one byte of a version of the collection whose content no other file has; return the version's number.

    The next verification finds it. Returns None if the collection has no such version.
    """
    alone = select(File.content_id).group_by(File.content_id).having(func.count() == 1)
    query = (
        select(Version.number, StoredObject.storage, StoredObject.key)
        .join(File, File.id == Version.file_id)
        .join(StoredObject, StoredObject.content_id == File.content_id)
        .where(Version.collection_id == collection_id, StoredObject.content_id.in_(alone))
        .where(StoredObject.state == "present")
    )
    with database.reading() as session:
        found = session.execute(query.order_by(Version.number).limit(3)).all()
    if not found:
        return None
    number, storage, key = found[-1][0], found[-1][1], str(found[-1][2])
    backend = backends.get(storage)
    with backend.open(key) as stream:
        content = bytearray(stream.read())
    content[len(content) // 2] ^= 0xFF
    backend.delete(key)
    backend.store(key, io.BytesIO(content), len(content))
    return int(number)
