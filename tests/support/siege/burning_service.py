"""A service under load that is killed at any moment: uploads, pins, locks and deletions, while the journal is written.

Run as a script with a JSON file: `ini`, and `ledger`, to which each acknowledged change is appended with its time.
"""

import json
import os
import random
import sys
import threading
import time
from datetime import timedelta
from functools import partial
from io import BytesIO
from pathlib import Path

from frepo_core import assemble
from frepo_core.db import migrations, utc_now
from frepo_core.domain.roles import Role
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming

PLAIN = 2 * [None]  # collections that are not locked


class Ledger:
    """Appends lines to a file: what was acknowledged, and what is about to be deleted."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, **line):
        """Append a line with the time after the acknowledgement (Unix time)."""
        os.write(self._file, f"{json.dumps(line | {'at': time.time()})}\n".encode())


def upload(services, ledger, by, token, locked=None):
    """Upload versions to a collection, pin each fifth and delete some others, for ever. Locked ones are not deleted."""
    chance = random.Random()
    change = CollectionChange(limits={"versions": 1000}, filename="dump.sql", locked=locked)
    collection = services.collections.create(change, by=by).id
    services.token_lists.grant(collection, services.tokens.fingerprint(token))
    ledger.note(op="collection", collection=collection)
    for turn in range(1_000_000):
        content = chance.randbytes(chance.randint(1, 3000))
        facts = services.collections.get(collection)
        version = services.add_version.add(facts, Incoming(stream=BytesIO(content)), by=by).version
        until = version.locked_until and version.locked_until.isoformat()
        digest = version.file.blob.digest
        ledger.note(op="added", collection=collection, number=version.number, digest=digest, locked_until=until)
        if turn % 5 == 0:
            end = utc_now() + timedelta(days=turn + 1) if turn % 2 else None
            pin = VersionChange(pinned=True, pin={"until": end, "reason": f"turn {turn}"})
            pinned = services.version_edits.edit(collection, version.id, pin, by=by)
            end = pinned.pinned_until and pinned.pinned_until.isoformat()
            ledger.note(op="pinned", collection=collection, number=version.number, until=end, reason=pinned.pin_reason)
        elif turn % 7 == 0 and not locked:
            ledger.note(op="deleting", collection=collection, number=version.number)
            services.versions.delete(collection, f"v{version.number}", by=by)
            ledger.note(op="deleted", collection=collection, number=version.number)


def write_journal(services):
    """Write the journal without a pause, and now and then a catalogue."""
    turn = 0
    while True:
        turn += 1
        if services.feature(RecoveryServices).journal.write_changes().needing or turn % 15 == 0:
            services.feature(RecoveryServices).journal.write_catalogue()


def main():
    """Serve until this process is killed."""
    given = json.loads(Path(sys.argv[1]).read_text())
    services = assemble(given["ini"], {})
    migrations.upgrade(services.database.engine)
    ledger = Ledger(given["ledger"])
    issued = services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never"))
    token = services.tokens.generate(NewToken(roles=[Role.UPLOAD_VERSIONS], expires="never")).id
    ledger.note(op="token", token=token)
    by = services.tokens.look_up(issued.id)
    services.build_all()
    services.feature(RecoveryServices).journal.write_changes()
    services.feature(RecoveryServices).journal.write_catalogue()
    ledger.note(op="begun")
    work = [partial(upload, services, ledger, by, token, locked) for locked in (timedelta(days=30), *PLAIN)]
    work.append(lambda: write_journal(services))
    threads = [threading.Thread(target=each, daemon=True) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(1)  # none of them ends by itself


if __name__ == "__main__":
    main()
