"""The summary: what happened in its period, whether the service is healthy, and the problems."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, update

from frepo_core import assemble
from frepo_core.db import utc_now
from frepo_core.db.models import Collection, JobRun
from frepo_core.plugins import JobContext
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_notify.errors import NotDelivered
from frepo_notify.summary import send_summary

from .conftest import START

NOW = START + timedelta(hours=1)


@pytest.fixture
def targets(mail):
    return f"ops {mail.url}\nquiet {mail.url} summary=no"


@pytest.fixture
def summarize(context):
    def summarize(now=NOW):
        return send_summary(JobContext(**vars(context), now=now, check_lease=lambda: None, progress=lambda text: None))

    return summarize


def test_it_counts_what_happened_and_lists_the_problems(mail, happened, summarize):
    for collection in ("c0", "c1", "c1"):
        happened("version.added", collection_id=collection)
    happened("version.refused", collection_id="c2", data={"message": "Too big."})

    assert ["ops"] == summarize()["sent_to"]

    (found,) = mail.mails
    lines = found.get_body(("plain",)).get_content().splitlines()
    assert "[backup1] Summary: 1 backup refused, 3 versions added" == found["Subject"]
    assert "- 3 versions added (2 collections)" in lines
    assert "The service is healthy." in lines
    assert [line for line in lines if line.endswith("was refused: Too big. The version was not stored.")]


def test_it_lists_other_formats_that_were_accepted(mail, happened, summarize):
    happened("version.kind_changed", collection_id="c1", version_number=4, data={"message": "It is age", "size": 1})

    summarize()

    lines = mail.mails[0].get_body(("plain",)).get_content().splitlines()
    assert "- 1 version of another format (1 collection)" in lines
    (line,) = lines[lines.index("Other formats than before, which were accepted:") + 1 :]
    assert "has another format than those before it. It is age." in line


def test_it_says_that_nothing_happened(mail, summarize):
    summarize()

    assert "[backup1] Summary: nothing happened" == mail.mails[0]["Subject"]


def test_it_begins_where_the_last_one_began_that_was_sent(mail, happened, summarize, services):
    last = {"started_at": START - timedelta(minutes=1), "ended_at": START, "outcome": "done", "name": "notify_summary"}
    more = {"lane": "short", "epoch": 1, "holder": "a", "cause": "schedule"}
    services.database.write(lambda session: session.execute(insert(JobRun), [last | more]))
    happened("version.added", at=START - timedelta(minutes=2))
    happened("job.failed", at=START, data={"job": "verify", "error": "x"})

    summarize()

    assert "[backup1] Summary: 1 job failed" == mail.mails[0]["Subject"]


def test_a_target_that_is_down_fails_the_job_after_the_others_were_sent(mail, summarize, ini, context):
    services = assemble(
        ini
        | {
            "notify.targets": "down mailto://127.0.0.1:1?from=a@example.org&to=a@example.org&mode=insecure\nops "
            f"{mail.url}"
        },
        {},
    )
    with pytest.raises(NotDelivered, match="^target 'down': Apprise could not send"):
        send_summary(
            JobContext(
                **vars(context) | {"settings": services.contexts["notify"].settings},
                now=NOW,
                check_lease=lambda: None,
                progress=print,
            )
        )

    assert 1 == len(mail.mails)


def test_it_is_sent_at_the_time_of_the_setting(ini):
    assert "off" == assemble(ini, {}).plugins.jobs["notify_summary"].spec.schedule
    assert (
        "0 7 * * *" == assemble(ini | {"notify.summary": "0 7 * * *"}, {}).plugins.jobs["notify_summary"].spec.schedule
    )


def test_it_says_which_collections_were_not_restore_tested_for_long(mail, services, summarize):
    now = utc_now()
    for name, days in (("new.sql", 1), ("old.sql", 41), ("older.sql", 99)):
        tested_at = now - timedelta(days=days)
        row = services.collections.create(CollectionChange(limits={}, filename=name), by=None).id
        tested = update(Collection).where(Collection.id == row).values(versions_count=1, restore_tested_at=tested_at)
        services.database.write(lambda session, tested=tested: session.execute(tested))

    summarize(now=now)

    lines = mail.mails[0].get_body(("plain",)).get_content().splitlines()
    start = lines.index("2 collections had no good restore test for too long:")
    assert lines[start + 1].startswith("- older.sql (")
    assert lines[start + 1].endswith("): not restore-tested for 99 days")
    assert lines[start + 2].endswith("): not restore-tested for 41 days")
    assert "" == lines[start + 3]


def test_it_says_which_collections_get_the_same_content_for_a_week(mail, services, summarize):
    for name, nights in (("new.sql", 6), ("week.sql", 7), ("old.sql", 19)):
        row = services.collections.create(CollectionChange(limits={}, filename=name), by=None).id
        same = update(Collection).where(Collection.id == row).values(baseline={"unchanged_nights": nights})
        services.database.write(lambda session, same=same: session.execute(same))

    summarize(now=utc_now())

    lines = mail.mails[0].get_body(("plain",)).get_content().splitlines()
    start = lines.index("The same content for a week or longer:")
    assert lines[start + 1].startswith("- old.sql (")
    assert [line.partition("): ")[2] for line in lines[start + 1 : start + 4]] == [
        "unchanged for 19 nights",
        "unchanged for 7 nights",
        "",
    ]


def test_it_names_the_collections_that_failed_with_the_reasons(mail, services, summarize, happened, make_collection):
    values = {
        "shop.sql": {"failed_since": START, "failed_reason": "The gzip data ends early"},
        "full.sql": {"full_since": START},
        "good.sql": {"versions_count": 1},
    }
    ids = {}
    for name, row in values.items():
        ids[name] = make_collection(name)
        change = update(Collection).where(Collection.id == ids[name]).values(**row)
        services.database.write(lambda session, change=change: session.execute(change))
    about = {"collection_id": ids["shop.sql"], "version_number": 4}
    happened("version.checked", **about, data={"check": "integrity", "outcome": "broken", "message": "It ends early"})
    happened("version.quarantined", **about, data={"message": "It ends early", "verdict": "broken", "size": 9})

    summarize()

    (found,) = mail.mails
    lines = found.get_body(("plain",)).get_content().replace("\r\n", "\n").splitlines()
    assert found["Subject"].replace("\n", "").startswith("[backup1] Summary: 1 backup failed, ")
    at = lines.index("2 collections are not well:")
    since = f"{START:%m-%d %H:%M}"
    assert f"- shop.sql ({ids['shop.sql']}): failed since {since}: The gzip data ends early" == lines[at + 1]
    assert lines[at + 2].startswith(f"- full.sql ({ids['full.sql']}): full since {since}: there is no room")
    assert not any("good.sql" in line for line in lines)
    (told,) = (line for line in lines if "It ends early" in line)
    assert "is broken, and was put into quarantine: It ends early." in told


def test_it_says_which_expected_backups_are_missing(mail, services, summarize):
    now = utc_now()
    for name, values in {
        "good.sql": {},
        "late.sql": {"due_at": now - timedelta(hours=1)},
        "missing.sql": {"due_at": now - timedelta(hours=5), "overdue_at": now - timedelta(hours=1)},
    }.items():
        change = CollectionChange(limits={}, filename=name, expected_every="1d")
        row = services.collections.create(change, by=None).id
        if values:
            overdue = update(Collection).where(Collection.id == row).values(**values)
            services.database.write(lambda session, overdue=overdue: session.execute(overdue))

    summarize()

    (found,) = mail.mails
    text = found.get_body(("plain",)).get_content().replace("\r\n", "\n")
    assert "1 of 3 backups missing" in found["Subject"]
    assert "1 of 3 expected backups have arrived, 1 may still arrive in time; missing:\n- missing.sql (" in text
