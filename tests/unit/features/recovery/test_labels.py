"""Labels of versions are recovered with them, from the catalogue and from the journal."""

import io

import pytest

from frepo_core.features.recovery.feature import RecoveryServices


@pytest.mark.databases
def test_versions_are_found_by_their_labels_after_a_recovery(services, run, make_collection, sender, recover):
    collection, service = make_collection(2), next(iter(services.contexts.values())).service

    def add(number):
        content = io.BytesIO(b"content of segment %d" % number)
        service.add_version(collection, content, by=sender, labels={"segment": str(number)}, note=f"No {number}")

    add(1)
    run("catalogue")
    add(2)
    add(3)  # evicts the first one
    services.feature(RecoveryServices).journal.write_changes()

    found = next(iter(recover().services.contexts.values())).service

    for number in (2, 3):
        [version] = found.versions(collection, label=("segment", str(number))).items
        assert (number, {"segment": str(number)}, f"No {number}") == (version.number, version.labels, version.note)
    assert [{"segment": "1"}] == [one.labels for one in found.trash(collection).items]
    assert () == tuple(found.versions(collection, label=("segment", "1")).items)
