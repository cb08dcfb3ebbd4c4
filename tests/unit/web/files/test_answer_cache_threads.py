"""An answer that was made before a change is never given after it, however the threads take turns."""

import sys
import threading
import time

import pytest

from frepo_core.services.files import aliases as aliases_of_files
from frepo_core.services.files.aliases import Aliases
from frepo_core.web.views import answer_cache
from frepo_core.web.views.answer_cache import AnswerCache
from support.client import Client
from support.scale import IS_BIG

SECONDS = 6 if IS_BIG else 2
OLD, NEW, KEY = "version 1", "version 2", ("/repository/file/a", "")


class Answer:
    """An answer as `add` reads it. `then` is called in the middle of it, as another thread may run there."""

    status, status_int, app_iter = "200 OK", 200, [b""]

    def __init__(self, then=lambda: None):
        self._then = then
        self.headers = {"Cache-Control": answer_cache.OPEN_CACHE, "ETag": '"digest"'}

    @property
    def headerlist(self):
        self._then()
        return list(self.headers.items())


def test_an_answer_of_an_older_version_does_not_get_among_those_of_a_newer_one():
    cache = AnswerCache()
    other = ("/repository/file/b", "")

    cache.add(OLD, KEY, Answer(then=lambda: cache.add(NEW, other, Answer())))

    assert cache.find(NEW, KEY) is None


@pytest.fixture
def fast_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.costly
@pytest.mark.slow
def test_no_download_that_began_after_a_change_has_the_old_answer(app, admin, uploader, fast_switches):
    """A file gets a password and loses it; others are downloaded meanwhile by other names."""
    names = [uploader.upload(b"content %d" % number).json["filename"] for number in range(4)]
    anonymous, is_over, wrong = Client(app), threading.Event(), []

    def download():
        while not is_over.is_set():
            for name in names:
                anonymous.download(name)

    def set_password(password):
        app.patch_json(f"/api/v1/files/{names[0]}", {"password": password}, headers={"X-Auth-Token": admin})

    threads = [threading.Thread(target=download) for _ in range(8)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and not wrong:
        for password, expected in (("word-5ecre7", 403), (None, 200)):
            set_password(password)
            wrong += [status for _ in range(3) if (status := anonymous.download(names[0]).status_int) != expected]
    is_over.set()
    for thread in threads:
        thread.join()

    assert [] == wrong


def test_a_version_of_aliases_is_not_new_while_the_old_ones_are_in_use(tmp_path, monkeypatch):
    """Reading a large file takes seconds; an answer made meanwhile must not be kept for the new version."""
    path = tmp_path / "ids_mapping.yaml"
    path.write_text("name: old\n")
    aliases = Aliases(path, check_seconds=0)
    before, is_reading, may_end = aliases.version(), threading.Event(), threading.Event()
    read = aliases_of_files._read

    def read_slowly(path):
        is_reading.set()
        may_end.wait(60)
        return read(path)

    monkeypatch.setattr(aliases_of_files, "_read", read_slowly)
    path.write_text("name: new one\n")
    aliases._check_seconds = 60
    reading = threading.Thread(target=aliases.version)
    reading.start()
    assert is_reading.wait(60)
    during = aliases.version(), aliases.resolve("name")
    may_end.set()
    reading.join()
    after = aliases.version(), aliases.resolve("name")

    assert (before, "old") == during
    assert after[0] != before
    assert "new one" == after[1]


@pytest.mark.costly
@pytest.mark.slow
def test_an_alias_that_is_added_to_a_large_file_during_downloads_is_followed(uploader, anonymous, tmp_path):
    """It takes a second to read the file, in which other threads give answers by the aliases before."""
    name, other = (uploader.upload(content).json["filename"] for content in (b"content", b"other"))
    more = "".join(f"alias-{number}: {other}\n" for number in range(5_000))
    anonymous.download(name)
    is_over = threading.Event()

    def download():
        while not is_over.is_set():
            anonymous.download(name)

    threads = [threading.Thread(target=download) for _ in range(3)]
    for thread in threads:
        thread.start()
    (tmp_path / "ids_mapping.yaml").write_text(f"{more}{name}: {other}\n")
    while anonymous.download("alias-0").status_int == 404:
        time.sleep(0.1)
    is_over.set()
    for thread in threads:
        thread.join()

    assert b"other" == anonymous.download(name).body
