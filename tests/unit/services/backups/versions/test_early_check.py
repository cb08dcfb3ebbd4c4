"""The check of a version before its content is read: it sees the collection as it is, not as the request found it."""

import pytest

from frepo_core.errors import FieldsError, VersionConflictError


def test_versions_that_were_added_since_count(services, make_collection, push):
    collection = make_collection()
    record = services.collections.get(collection)
    push(collection, b"one")

    services.add_version.rules.refuse_early(record, 1, after=1)

    with pytest.raises(VersionConflictError):
        services.add_version.rules.refuse_early(record, 1, after=0)


def test_a_collection_that_was_deleted_since_is_refused(services, make_collection):
    collection = make_collection()
    record = services.collections.get(collection)
    services.collections.delete(collection)

    with pytest.raises(FieldsError):
        services.add_version.rules.refuse_early(record, 1, after=None)
