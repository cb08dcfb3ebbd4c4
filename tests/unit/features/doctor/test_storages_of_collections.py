"""Collections that name a storage that is not configured any more, as after a recovery without it."""

from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db.models import Collection
from frepo_core.domain.roles import Role
from frepo_core.errors import StorageUnavailable
from frepo_core.features.doctor.data import check_storage
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.content.ingest import Incoming


def test_collections_whose_storage_is_not_configured_are_a_problem_before_their_next_upload(services, make_token):
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    change = CollectionChange(limits={"versions": 3}, filename="db.sql")
    collection = services.collections.create(change, by=by).id
    services.database.execute(update(Collection).values(storage="archive"))

    found = list(check_storage(services, dict))

    [bad] = [finding for finding in found if finding.level.value == "problem"]
    assert "1 collection stores its versions in 'archive', which is not configured" in bad.message
    assert collection in bad.message
    assert "--storage" in bad.remedy
    with pytest.raises(StorageUnavailable):
        services.add_version.add(services.collections.get(collection), Incoming(stream=BytesIO(b"a")), by=by)
