"""Plug-ins that break their contract: the log names the package, the client gets a status, nothing changes."""

import os
from dataclasses import replace

import pytest

from frepo_core.db import utc_now
from frepo_core.errors import PluginError
from frepo_core.plugins import CollectionStrategy, StorageSettings, StorageSpec, StrategySpec, VersionInfo
from frepo_core.testing import MemoryStorage
from support.own_plugins import acme_plugin, registry_with

GHOST = VersionInfo(id="ghost", number=1, size=5, created_at=utc_now())


class Scripted(CollectionStrategy):
    """Returns the answer that the test sets."""

    @staticmethod
    def answer(versions):
        return versions[:1]

    def make_room(self, collection, incoming):
        return () if collection.has_room(incoming) else self.answer(list(collection.versions))


class Broken(MemoryStorage):
    """Fails as the test specifies."""

    faults: dict = {}  # noqa: RUF012  # shared on purpose

    def store(self, key, content, size):
        self._fail("store")
        super().store(key, content, size)

    def stat(self, key):
        self._fail("stat")
        return self.faults.get("stat_answer", super().stat(key))

    def list(self):
        return self.faults["list_answer"](super().list()) if "list_answer" in self.faults else super().list()

    def open(self, key, start=0, length=None):
        self._fail("open")
        opened = super().open(key, start, length)
        if "read" in self.faults:
            opened.read = lambda size=-1: self._fail("read")
        return opened

    def _fail(self, method):
        if method in self.faults:
            raise self.faults[method]


@pytest.fixture(autouse=True)
def script(monkeypatch):
    monkeypatch.setattr(Broken, "faults", {})


@pytest.fixture(scope="module")
def acme():
    return acme_plugin(
        "acme-crate",
        storages=[StorageSpec(name="crate", settings=StorageSettings, build=lambda settings: Broken())],
        strategies=[StrategySpec(name="scripted", build=Scripted)],
    )


@pytest.fixture(scope="module")
def plugins(acme):
    return registry_with(acme)


@pytest.fixture
def ini(ini):
    return {name: value for name, value in ini.items() if name != "fs.local.directory"} | {"fs.adapter": "crate"}


@pytest.fixture
def full(root):
    """A full collection of two versions."""
    made = root.create(strategy="scripted", maxBackupsCount=2).json["collection"]["id"]
    for content in (b"first", b"second"):
        root.push(made, content)
    return made


NONSENSE = {
    "nothing": lambda versions: [],
    "None": lambda versions: None,
    "a ghost": lambda versions: [GHOST],
    "one twice": lambda versions: [versions[0], versions[0]],
    "a version of another id": lambda versions: [replace(versions[0], id="other")],
    "texts": lambda versions: ["v1"],
    "an error": lambda versions: 1 / 0,
    "an OSError": lambda versions: os.stat("/nowhere"),
}


def test_an_invalid_strategy_result_is_500_and_changes_nothing(root, full, monkeypatch, caplog):
    for name, nonsense in NONSENSE.items():
        monkeypatch.setattr(Scripted, "answer", staticmethod(nonsense))
        caplog.clear()
        answer = root.push(full, b"third")
        assert answer.status_int == 500, name
        assert answer.json["error_id"] in caplog.text
        assert "the strategy 'scripted' (the plug-in 'acme' of the package acme-crate 1.2.3)" in caplog.text
        assert "acme" not in answer.text
        assert ["1", "2"] == sorted(root.versions(full)), name


@pytest.mark.parametrize("method", ["store", "stat"])
def test_a_raw_oserror_of_a_storage_is_503_and_names_the_package(root, caplog, method):
    Broken.faults[method] = ConnectionResetError("cut")

    answer = root.upload(b"content")

    assert answer.status_int == 503
    assert answer.json["error_code"] == 7016103
    assert (
        f"the storage 'crate' (the plug-in 'acme' of the package acme-crate 1.2.3) failed in {method}()" in caplog.text
    )
    assert "crate" not in answer.text


@pytest.mark.parametrize("fault", [{"store": KeyError("bug")}, {"stat_answer": None}, {"stat": ZeroDivisionError()}])
def test_any_other_error_or_invalid_result_of_a_storage_is_500_and_names_the_package(root, caplog, fault):
    Broken.faults.update(fault)

    answer = root.upload(b"content")

    assert answer.status_int == 500
    assert answer.json["error_id"] in caplog.text
    assert "the storage 'crate' (the plug-in 'acme' of the package acme-crate 1.2.3)" in caplog.text


@pytest.mark.parametrize("wrong", [None, "key", ("key", 5)])
def test_a_wrong_entry_of_a_list_is_an_error_that_names_the_package(root, services, wrong):
    """Maintenance must not take the blobs before it for all of them."""
    root.upload(b"content")
    Broken.faults["list_answer"] = lambda blobs: [*blobs, wrong, *blobs]

    with pytest.raises(PluginError, match=r"acme-crate 1\.2\.3\) answered list\(\) with"):
        list(services.backends.get("crate").list())


@pytest.mark.parametrize("answer", [None, 5])
def test_a_list_that_is_none_is_an_error_that_names_the_package(services, answer):
    Broken.faults["list_answer"] = lambda blobs: answer

    with pytest.raises(PluginError, match=r"acme-crate 1\.2\.3\) failed in list\(\)"):
        list(services.backends.get("crate").list())


@pytest.mark.parametrize("method", ["open", "read"])
def test_a_download_from_a_storage_with_a_raw_oserror_is_503(root, caplog, method):
    url = root.upload(b"content").json["url"]
    Broken.faults[method] = TimeoutError("no answer")

    answer = root.get(url)

    assert answer.status_int == 503
    assert answer.json["error_code"] == 7016103
    assert "acme-crate" in caplog.text
