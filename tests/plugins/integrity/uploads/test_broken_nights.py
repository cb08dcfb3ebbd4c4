"""Nights on which the dump is cut: the good versions stay, and `latest` names one of them."""

import gzip
import random

import pytest

from frepo_core.plugins import CollectionStrategy, StrategySpec
from support.client import follow
from support.own_plugins import acme_plugin, open_services, registry_with  # noqa: F401  # a fixture
from support.scale import IS_BIG, first_of

V1 = "/api/v1/collections"
MERGE = {"Content-Type": "application/merge-patch+json"}
HEAD = "-- MySQL dump 10.13  Distrib 8.0.36\nCREATE TABLE `orders` (`id` int, `text` varchar(64));\n"
END = "-- Dump completed on 2026-03-01  2:00:07\n"


def dump(night):
    """Return the dump of a shop that grows by a few orders each night, in SQL."""
    words = random.Random(7)
    rows = (
        f"INSERT INTO `orders` VALUES ({number},'{words.getrandbits(200):x}');\n" for number in range(500 + 9 * night)
    )
    return "".join([HEAD, *rows, END]).encode()


def pack(content):
    return gzip.compress(content, mtime=0)


def cut(content):
    return content[: len(content) * 9 // 10]


# A network or a disk cuts the packed bytes; a dumper that is killed leaves a whole gzip file.
BROKEN = {
    "connection": lambda night: cut(pack(dump(night))),
    "at 60 %": lambda night: pack(dump(night))[: len(pack(dump(night))) * 6 // 10],
    "last bytes": lambda night: pack(dump(night))[: -1 - night],
    "dumper": lambda night: pack(cut(dump(night))),
    "nothing": lambda night: pack(b""),
}
STRATEGIES = ["delete_oldest_when_adding_new", "keep", "greedy"]


class Greedy(CollectionStrategy):
    """A third party's strategy, the worst one: each upload evicts everything that it may."""

    def make_room(self, collection, incoming):
        return list(collection.versions)


@pytest.fixture
def plugins():
    acme = acme_plugin("acme-greedy", strategies=[StrategySpec(name="greedy", build=Greedy)])
    return registry_with(acme)


@pytest.fixture
def make(root):
    def make(limit, strategy=STRATEGIES[0]):
        made = root.create(filename="shop.sql.gz", maxBackupsCount=limit, strategy=strategy)
        return made.json["collection"]["id"]

    return make


@pytest.fixture
def latest(root):
    """Return the content of `latest` or `good`, which both APIs have to name alike."""

    def latest(collection, name="latest"):
        link = root.get(f"/repository/collection/{collection}/backup/{name}?redirect=false").json["url"]
        content = follow(root, link).body
        assert content == root.get(f"{V1}/{collection}/versions/{name}/content").body
        return content

    return latest


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    ("limit", "strategy"), first_of([(3, "greedy"), (1, STRATEGIES[0]), (3, STRATEGIES[0]), (3, "keep")])
)
def test_broken_nights_evict_no_good_version(root, services, make, latest, broken, limit, strategy):
    collection = make(limit, strategy)
    for night in range(3):
        root.push(collection, pack(dump(night)))
    kept = set(root.versions(collection))

    answers = [root.push(collection, broken(night)) for night in range(3, 14)]

    assert {(200, True)} == {(one.status_int, one.json["version"]["quarantined"]) for one in answers}
    assert pack(dump(2)) == latest(collection) == latest(collection, "good")
    # Of the broken ones, as many as `quarantine.max` says are kept.
    assert kept | {"13", "14"} == set(root.versions(collection))
    shown = root.get(f"{V1}/{collection}").json
    assert (len(kept), 2, "failed") == (shown["versions"], shown["quarantined_versions"], shown["state"])


@pytest.mark.costly
@pytest.mark.databases
def test_thirty_nights(root, make, latest, services):
    """Everything that can break, in turns."""
    collection = make(3)
    for night in range(3):
        root.push(collection, pack(dump(night)))
    kinds = list(BROKEN.values())

    for night in range(3, 33 if IS_BIG else 3 + len(kinds)):
        version = root.push(collection, kinds[night % len(kinds)](night)).json["version"]
        assert ("broken", True) == (version["verdict"], bool(version["verdict_reason"]))
        assert pack(dump(2)) == latest(collection) == latest(collection, "good")
        shown = root.get(f"{V1}/{collection}").json
        assert ("failed", version["verdict_reason"]) == (shown["state"], shown["state_reason"])

    root.push(collection, pack(dump(40)))
    assert "ok" == root.get(f"{V1}/{collection}").json["state"]
    assert pack(dump(40)) == latest(collection) == latest(collection, "good")


class TestLargeContents:
    """Contents above the size that is checked at once, and a job that judges them later."""

    @pytest.fixture
    def settings(self):
        return {"integrity.inline_limit": "1kb"}

    @pytest.mark.databases
    @pytest.mark.parametrize("limit", first_of([1, 3]))
    def test_nights_without_the_job_evict_no_good_version(self, root, services, make, latest, limit):
        collection = make(limit)
        for night in range(3):
            root.push(collection, pack(dump(night)))
            services.jobs.run("integrity_deep", cause="console")

        for night in range(3, 13):
            root.push(collection, pack(cut(dump(night))))

        assert pack(dump(2)) == latest(collection, "good")
        # Nobody knows yet: the newest one is named, and the collection does not grow without bound.
        assert limit + 2 == len(root.versions(collection))

        services.jobs.run("integrity_deep", cause="console")

        assert pack(dump(2)) == latest(collection) == latest(collection, "good")
        assert limit + 2 == len(root.versions(collection))
        assert "failed" == root.get(f"{V1}/{collection}").json["state"]


def test_the_next_good_night_rotates(root, make, latest):
    collection = make(1)
    for content in (pack(dump(0)), cut(pack(dump(1))), pack(dump(2))):
        assert 200 == root.push(collection, content).status_int

    assert pack(dump(2)) == latest(collection)
    assert ["2", "3"] == sorted(root.versions(collection))


def test_a_person_may_release_a_broken_version(root, make, latest):
    collection = make(1)
    for content in (pack(dump(0)), cut(pack(dump(1)))):
        root.push(collection, content)

    released = root.call("PATCH", f"{V1}/{collection}/versions/v2", json={"quarantined": False}, headers=MERGE)

    assert (200, False) == (released.status_int, released.json["quarantined"])

    assert cut(pack(dump(1))) == latest(collection)


class TestMark:
    @pytest.fixture(
        params=[{"checks.on_broken": "mark"}, {"integrity.gzip": "mark"}], ids=lambda settings: next(iter(settings))
    )
    def settings(self, request):
        return request.param

    def test_a_broken_version_rotates_and_is_the_latest_and_the_last_good_one_stays(self, root, make, latest):
        collection = make(1)
        for content in (pack(dump(0)), cut(pack(dump(1))), cut(pack(dump(2)))):
            root.push(collection, content)

        assert cut(pack(dump(2))) == latest(collection)
        assert ["1", "3"] == sorted(root.versions(collection))
        assert pack(dump(0)) == latest(collection, "good")

        root.push(collection, pack(dump(3)))

        assert ["4"] == sorted(root.versions(collection))


class TestBothSettings:
    @pytest.fixture
    def settings(self):
        return {"checks.on_broken": "mark", "integrity.gzip": "quarantine"}

    def test_the_setting_of_the_kind_decides(self, root, make):
        collection = make(1)

        assert root.push(collection, cut(pack(dump(0)))).json["version"]["quarantined"]
        assert not root.push(collection, pack(cut(dump(0)))).json["version"]["quarantined"]
