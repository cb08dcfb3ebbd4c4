"""The feed shows the versions to those who may list them, part by part."""

from datetime import UTC, datetime
from xml.etree.ElementTree import fromstring

import pytest

from frepo_feed_versions import frepo_endpoints
from frepo_feed_versions.atom import Entry, make_feed
from frepo_feed_versions.views import LENGTH

ATOM = {"a": "http://www.w3.org/2005/Atom"}
AT = datetime(2026, 11, 26, 2, tzinfo=UTC)


def texts(feed, path):
    return [element.text for element in feed.findall(path, ATOM)]


@pytest.fixture
def collection(frepo_service):
    return frepo_service.make_collection(max_versions=100, filename="a & b.sql")


def test_a_feed_is_escaped_and_has_the_time_of_its_newest_entry():
    entry = Entry(id="urn:x:1", title="a < b", updated=AT, link="https://example.org/1", summary="5 bytes")

    feed = fromstring(
        make_feed("urn:x", "A & B", [entry], updated=AT.replace(year=2020), self_link="https://example.org/")
    )

    assert (["A & B"], ["a < b"]) == (texts(feed, "a:title"), texts(feed, "a:entry/a:title"))
    assert [AT.isoformat()] == texts(feed, "a:updated")


def test_there_is_one_endpoint():
    assert ["show_version_feed"] == [endpoint.name for endpoint in frepo_endpoints()]


def test_the_newest_versions_come_first(frepo_service, collection):
    for number in range(3):
        frepo_service.push(collection, b"SELECT %d;" % number)

    answer = frepo_service.request("GET", f"/feed/{collection}")

    feed = fromstring(answer.body)
    assert (200, "application/atom+xml; charset=utf-8") == (answer.status, answer.headers["content-type"].lower())
    assert ["3", "2", "1"] == [title.split(": ")[0].split()[-1] for title in texts(feed, "a:entry/a:title")]
    assert ["Versions of a & b.sql"] == texts(feed, "a:title")
    link = feed.find("a:entry/a:link", ATOM).get("href")
    assert 3 == frepo_service.request("GET", link).json["number"]


def test_a_long_feed_has_parts(frepo_service, collection):
    for number in range(LENGTH + 2):
        frepo_service.push(collection, b"SELECT %d;" % number)

    first = fromstring(frepo_service.request("GET", f"/feed/{collection}").body)
    following = first.find("a:link[@rel='next']", ATOM).get("href")
    rest = fromstring(frepo_service.request("GET", following).body)

    assert (LENGTH, 2) == tuple(len(feed.findall("a:entry", ATOM)) for feed in (first, rest))
    assert rest.find("a:link[@rel='next']", ATOM) is None
    assert 400 == frepo_service.request("GET", f"/feed/{collection}?after=nothing").status


def test_others_do_not_see_it(frepo_service, collection):
    other = frepo_service.make_token("collections.list_versions_for_allowed_collections")

    answers = [frepo_service.request("GET", f"/feed/{collection}", token=token) for token in (other, "")]

    assert [403, 403] == [answer.status for answer in answers]
