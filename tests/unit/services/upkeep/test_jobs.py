"""The built-in jobs: which there are, and those that remove tokens and analyse the database."""

from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import text, update

from frepo_core.db import utc_now
from frepo_core.db.models import Token
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.content.ingest import Incoming


def test_the_jobs_are_those_of_the_documentation(services):
    expected = {
        "verify": ("15 2 * * *", "long"),
        "sweep": ("45 3 * * *", "long"),
        "overdue": ("every 1m", "short"),
        "tokens": ("every 1h", "short"),
        "trash": ("every 10m", "short"),
        "events": ("30 4 * * *", "short"),
        "database": ("0 5 * * 0", "long"),
        "samples": ("5 0 * * *", "short"),
        "restore_tests": ("off", "long"),
        "unjudged": ("every 1h", "short"),
        "pins": ("every 10m", "short"),
        "migrate": ("every 10m", "long"),
        "retention": ("every 10m", "short"),
        "lock_proof": ("every 1h", "short"),
        "senders": ("every 1h", "short"),
        "mirror": ("off", "mirror"),
        "compact": ("off", "compact"),
        "journal": ("every 1m", "short"),
        "catalogue": ("30 1 * * *", "medium"),
    }

    assert expected == {job.name: (job.schedule, job.lane) for job in upkeep_jobs(services)}
    assert all(job.summary for job in upkeep_jobs(services))


@pytest.mark.databases
def test_expired_tokens_are_removed_with_an_event(services, run, make_token, events):
    make_token(Role.UPLOAD_ALL, expires="+1 hour")
    kept = make_token(Role.UPLOAD_ALL)
    past = utc_now() - timedelta(minutes=1)
    change = update(Token).where(Token.expires_at.is_not(None)).values(expires_at=past)
    services.database.write(lambda session: session.execute(change))

    assert {"removed": 1} == run("tokens")
    assert {"removed": 0} == run("tokens")
    assert services.tokens.look_up(kept)
    assert [("token.expired", "system:tokens")] == events()


def test_what_was_in_the_trash_for_its_time_ends(services, run, by, events):
    collection = services.collections.create(CollectionChange(limits={COUNT: 1}, filename="a.sql"), by=by).id
    for content in (b"first", b"second"):
        services.add_version.add(services.collections.get(collection), Incoming(stream=BytesIO(content)), by=by)
    services.collections.delete(collection, by=by, with_versions=True)
    events()
    nothing = {"versions": 0, "collections": 0, "early": 0, "freed_early": 0}

    assert nothing == run("trash")
    assert nothing | {"versions": 2, "collections": 1} == run("trash", utc_now() + timedelta(days=8))
    assert [("trash.ended", "system:trash")] * 2 == events()[-2:]


@pytest.mark.databases
def test_the_database_refreshes_its_statistics(services, run, add):
    for number in range(20):
        add(b"%d" % number)

    assert run("database")["tables"] > 10

    if services.database.engine.dialect.name == "sqlite":
        with services.database.reading() as session:
            assert session.scalar(text("SELECT stat FROM sqlite_stat1 WHERE tbl = 'content' LIMIT 1")).startswith("20 ")


class TestReadOnly:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"read_only": "true"}

    def test_a_read_only_service_changes_nothing(self, run, orphan):
        for name in ["verify", "sweep", "tokens", "trash", "events", "database", "samples"]:
            path = orphan()

            assert {"skipped": "the service is in read-only mode"} == run(name)
            assert path.exists(), name
