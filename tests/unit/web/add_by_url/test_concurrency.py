"""add-by-url limits its workers: each fetch uses one until the remote server has answered."""

import configparser

from frepo_core.settings import load_settings
from support.client import with_settings
from support.paths import ROOT
from support.remote_answers import SOMEBODY
from support.servers.remote import endless, reply

BUSY = 60008


@with_settings(add_by_url__at_once="2")
def test_the_number_of_concurrent_fetches_is_limited(add, services, remote, caplog):
    server = remote({"/slow": endless(reply("200 OK"), b"x", pause=0.1)})
    slow = f"{server.origin}/slow"

    with services.fetcher.open(slow, by=SOMEBODY):
        add(f"{server.origin}/x")
        with services.fetcher.open(slow, by=SOMEBODY):
            refusal = add(f"{server.origin}/y", status=503)
    add(f"{server.origin}/z", status=202)  # same content as the first

    assert (refusal.json["error_code"], refusal.headers["Retry-After"]) == (BUSY, "30")
    assert not [head for head in server.requests if "/y" in head]
    assert not [record for record in caplog.records if record.exc_info]


@with_settings(add_by_url__at_once="1")
def test_a_failed_fetch_is_no_longer_counted(add, remote):
    server = remote({"/missing": reply("404 Not Found")})
    for _ in range(3):
        add(f"{server.origin}/missing", status=400)

    add(f"{server.origin}/x")


def test_fetches_leave_half_of_the_workers_to_others(ini):
    for name in ["development.ini", "production.ini"]:
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(ROOT / name)

        assert load_settings(ini, {}).add_by_url_at_once <= int(parser["server:main"]["threads"]) / 2, name
