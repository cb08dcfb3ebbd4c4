"""The use cases whose calls into storage or database fail, one after the other, in tests of faults.

Each prepares its data with the number `k` of the run, and returns the call that the test makes to fail.
"""

from io import BytesIO

from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.services.backups.versions.add_version import UploadOptions
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.services.content.ingest import Incoming
from support.reliability.invariants import digest_of


def add_file(world, k):
    return lambda: world.upload(b"file %d" % k, f"{k}.txt")


def add_duplicate(world, k):
    world.push(world.collection(), b"duplicate %d" % k)
    return lambda: world.upload(b"duplicate %d" % k, f"{k}.txt")


def add_version_and_rotate(world, k):
    collection = world.collection(1)
    world.push(collection, b"old %d" % k)
    return lambda: world.push(collection, b"new %d" % k)


def delete_version(world, k):
    collection = world.collection()
    world.push(collection, b"to stay %d" % k)
    world.push(collection, b"to go %d" % k)
    return lambda: world.delete(collection, 2)


def delete_file(world, k):
    name = world.upload(b"to go %d" % k, f"{k}.txt")
    return lambda: world.remove(name)


def edit_collection(world, k):
    collection = world.collection()
    return lambda: world.edit(collection, limits={COUNT: 5}, description="other")


def revoke_token(world, k):
    token = world.token(Role.UPLOAD_ALL)
    return lambda: world.services.tokens.revoke(token, by=world.admin)


def delete_collection(world, k):
    collection = world.collection()
    return lambda: world.services.collections.delete(collection)


def repeat_version(world, k):
    """Push with a key: a repetition gets the committed answer, or makes the version."""
    collection, content = world.collection(1), b"repeated %d" % k
    world.push(collection, b"old %d" % k)
    idempotency = IdempotentUpload(
        key=f"key {k}",
        scope=collection,
        serialize=lambda added: {"number": added.version.number, "file": added.version.file.id},
    )

    def push():
        facts, incoming = world.services.collections.get(collection), Incoming(stream=BytesIO(content))
        options = UploadOptions(idempotency=idempotency)
        added = world.services.add_version.add(facts, incoming, by=world.admin, options=options)
        number = added.answer["number"] if isinstance(added, RecordedAnswer) else added.version.number
        assert 2 == number
        if (collection, number) not in world.ledger.versions:
            world.ledger.acknowledge(collection, number, content)

    return push


def heal_a_version(world, k):
    """Push a content whose blob is damaged: it is stored again, and the damaged bytes are deleted."""
    collection, content = world.collection(2), b"to heal %d" % k
    world.push(collection, content)
    key = next(stat.key for stat in world.backend.list() if digest_of(content) in stat.key)
    world.backend.path(key).write_bytes(b"x" * len(content))
    world.verify()
    world.spoilt.add(digest_of(content))

    def push():
        world.push(collection, content)
        world.spoilt.discard(digest_of(content))

    return push


def create_collection(world, k):
    return lambda: world.collection(3)


def make_token(world, k):
    return lambda: world.token(Role.UPLOAD_ALL)


def pin_version(world, k):
    collection = world.collection()
    world.push(collection, b"to pin %d" % k)
    return lambda: world.pin(collection, 1)


def note_version(world, k):
    collection = world.collection()
    world.push(collection, b"to note %d" % k)
    return lambda: world.note(collection, 1, "before the move")


def quarantine_version(world, k):
    """The third version in quarantine: the first one leaves it."""
    collection = world.collection(guards={"min_version_size": 100, "action": "quarantine"})
    world.push(collection, b"good %d " % k + b"x" * 100)
    world.push(collection, b"bad %d" % k)
    world.push(collection, b"worse %d" % k)
    world.ledger.quarantined.add((collection, 4))  # its answer may be lost
    return lambda: world.push(collection, b"worst %d" % k)


def release_version(world, k):
    """The released version evicts the oldest one."""
    collection = world.collection(1, guards={"min_version_size": 100, "action": "quarantine"})
    world.push(collection, b"good %d " % k + b"x" * 100)
    world.push(collection, b"small, but right %d" % k)
    return lambda: world.release(collection, 2)


def in_trash(world, k):
    """Make a collection with one version, and another in the trash."""
    collection = world.collection()
    world.push(collection, b"to restore %d" % k)
    world.push(collection, b"to stay %d" % k)
    world.delete(collection, 1)
    return collection


def restore_version(world, k):
    collection = in_trash(world, k)
    return lambda: world.restore(collection, 1)


def end_version(world, k):
    collection = in_trash(world, k)
    return lambda: world.services.trash.end(collection, 1, by=world.admin)


def with_deleted_collection(world, k):
    collection = in_trash(world, k)
    world.ledger.ask_to_delete(collection, 2)
    return collection, lambda: world.services.collections.delete(collection, with_versions=True)


def delete_collection_with_versions(world, k):
    return with_deleted_collection(world, k)[1]


def restore_collection(world, k):
    collection, delete = with_deleted_collection(world, k)
    delete()
    return lambda: world.services.deleted_collections.restore(collection, by=world.admin)


def end_collection(world, k):
    collection, delete = with_deleted_collection(world, k)
    delete()
    return lambda: world.services.deleted_collections.end(collection, by=world.admin)


CASES = [
    add_file,
    add_duplicate,
    add_version_and_rotate,
    repeat_version,
    heal_a_version,
    quarantine_version,
    delete_file,
    end_version,
    end_collection,
    create_collection,
    delete_version,
    edit_collection,
    delete_collection,
    make_token,
    revoke_token,
    pin_version,
    note_version,
    release_version,
    restore_version,
    delete_collection_with_versions,
    restore_collection,
]
# The others change rows only.
STORING = CASES[: CASES.index(create_collection)]
