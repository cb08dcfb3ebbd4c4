"""Password guessing: wrong passwords are limited for each file and client address; masked names are not found."""

from types import SimpleNamespace

import argon2.low_level
import pytest
from argon2 import PasswordHasher

from frepo_core.domain.roles import Role
from frepo_core.services.access import password_attempts
from frepo_core.services.access.password_attempts import PasswordAttempts
from support.client import COLLECTIONS, stored, with_settings

RIGHT = "right-5ecre7"


@pytest.fixture
def name(root):
    return root.upload(password=RIGHT, public="true").json["filename"]


def guesses(count):
    return [f"wrong-{number}-5ecre7" for number in range(count)]


def from_address(address):
    return {"environ": {"REMOTE_ADDR": address}}


@pytest.mark.parametrize("path", ["/repository/file/", "/public/download/"])
def test_the_eleventh_wrong_password_is_refused_before_it_is_tried(anonymous, name, path):
    statuses = [anonymous.get(path + name, {"password": guess}).status_int for guess in guesses(10)]
    answer = anonymous.get(path + name, {"password": RIGHT})

    assert [403] * 10 == statuses
    assert (429, 4290) == (answer.status_int, answer.json["error_code"])
    assert 0 < int(answer.headers["Retry-After"]) <= 600


def test_wrong_passwords_lock_one_address_out_of_one_file(root, anonymous, name):
    other = root.upload(b"other", password=RIGHT).json["filename"]
    for guess in guesses(11):
        locked = anonymous.download(name, {"password": guess}, **from_address("203.0.113.1"))
    assert 429 == locked.status_int
    for each, address in [(name, "203.0.113.2"), (other, "203.0.113.1")]:
        assert 200 == anonymous.download(each, {"password": RIGHT}, **from_address(address)).status_int, address


@with_settings(trusted_proxies="10.0.0.0/8")
def test_addresses_forwarded_by_a_trusted_proxy_are_counted_separately(anonymous, name):
    def ask(address, password):
        headers = {"X-Forwarded-For": address}
        return anonymous.download(name, {"password": password}, headers=headers, **from_address("10.0.0.1")).status_int

    statuses = [ask("203.0.113.1", guess) for guess in guesses(11)]

    assert [*[403] * 10, 429] == statuses
    assert 200 == ask("203.0.113.2", RIGHT)


def test_addresses_of_one_ipv6_network_are_counted_together(anonymous, name):
    statuses = [
        anonymous.download(name, {"password": guess}, **from_address(f"2001:db8::{number:x}")).status_int
        for number, guess in enumerate(guesses(11))
    ]

    assert 429 == statuses[-1]
    assert 200 == anonymous.download(name, {"password": RIGHT}, **from_address("2001:db8:0:1::")).status_int


def test_repeating_one_wrong_password_is_not_guessing(anonymous, name):
    for _ in range(20):
        anonymous.download(name, {"password": "wrong-5ecre7"})

    assert 200 == anonymous.download(name, {"password": RIGHT}).status_int


def test_passwords_are_accepted_again_after_the_window(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(password_attempts, "time", SimpleNamespace(monotonic=lambda: now[0]))
    attempts = PasswordAttempts(limit=2, window=60)
    for guess in guesses(2):
        attempts.add_failure("a file", "203.0.113.1", guess)

    now[0] += 59.5
    assert 1 == attempts.seconds_to_wait("a file", "203.0.113.1")
    now[0] += 1
    assert 0 == attempts.seconds_to_wait("a file", "203.0.113.1")

    for guess in guesses(2):  # the limit holds in the next window, too
        attempts.add_failure("a file", "203.0.113.1", guess)
    assert 61 == attempts.seconds_to_wait("a file", "203.0.113.1")


@with_settings(password__attempts="0")
def test_the_limit_can_be_switched_off(anonymous, name):
    assert {403} == {anonymous.download(name, {"password": guess}).status_int for guess in guesses(12)}


def test_passwords_of_deletions_are_counted(holder, name):
    deleter = holder(Role.UPLOAD_ALL)
    statuses = [
        deleter.delete(f"/repository/file/{name}", {"password": guess}).status_int for guess in [*guesses(10), RIGHT]
    ]

    assert [*[403] * 10, 429] == statuses


def test_a_token_that_may_delete_all_files_needs_no_password(root, anonymous, name):
    for guess in guesses(11):
        anonymous.delete(f"/repository/file/{name}", {"password": guess})

    assert 200 == root.delete(f"/repository/file/{name}", {"password": "wrong-5ecre7"}).status_int


def test_versions_of_a_collection_are_counted_together(make_collection, root, holder):
    collection = make_collection(password=RIGHT)
    reader = holder(Role.LIST_VERSIONS)
    root.post(f"{COLLECTIONS}/{collection}/token", {"token": reader.token})
    for content in (b"one", b"two"):
        root.push(collection, content)
    path = f"{COLLECTIONS}/{collection}/backup"
    statuses = [
        reader.get(f"{path}/v{1 + number % 2}", {"password": guess}).status_int
        for number, guess in enumerate(guesses(11))
    ]

    assert [*[403] * 10, 429] == statuses
    assert 429 == reader.get(f"{path}/latest", {"password": RIGHT}).status_int


def test_guessing_by_uploads_is_limited(root, holder, name):
    uploader = holder(Role.UPLOAD_ALL)
    for guess in guesses(10):
        assert 200 == uploader.upload(password=guess).status_int

    assert 200 == uploader.upload(password=RIGHT).status_int
    assert 202 == root.upload(password=RIGHT).status_int


@pytest.fixture
def hashes(monkeypatch):
    """Return the list of hashed passwords."""
    seen = []
    derive = argon2.low_level.hash_secret_raw

    def noting(secret, *more):
        seen.append(secret.decode())
        return derive(secret, *more)

    monkeypatch.setattr("frepo_core.services.access.passwords.hash_secret_raw", noting)
    return seen


@pytest.mark.parametrize("query", [{}, {"searchQuery": "a.t"}])
def test_a_listing_hashes_the_password_once(root, holder, hashes, query):
    for number in range(20):
        root.upload(b"%d" % number, password=RIGHT, public="true")
    hashes.clear()
    lister = holder(Role.VIEW_LISTING)

    lister.get("/repository", {"password": "wrong-5ecre7", **query})

    assert ["wrong-5ecre7"] == hashes


@pytest.mark.databases
def test_a_password_unmasks_its_files_among_others(root, holder):
    for number in range(4):
        root.upload(b"%d" % number, f"{number}.txt", password=f"{number % 2}-5ecre7", public="true")

    answer = holder(Role.VIEW_LISTING).get("/repository", {"password": "0-5ecre7"})

    assert ["anonymous", "2.txt", "anonymous", "0.txt"] == [
        row["filename"][10:] if row["publicUrl"] else row["filename"] for row in answer.json["results"]
    ]


def test_guessing_by_listings_is_limited(holder, name):
    lister = holder(Role.VIEW_LISTING)
    statuses = [lister.get("/repository", {"password": guess}).status_int for guess in [*guesses(10), RIGHT]]

    assert [*[200] * 10, 429] == statuses
    assert 200 == lister.get("/repository").status_int


def test_equal_passwords_are_stored_differently(root, services):
    answers = [root.upload(content, password=RIGHT) for content in (b"a", b"b")]
    first, second = (stored(services, answer).password_hash for answer in answers)

    assert first != second


@pytest.mark.databases
def test_password_hashes_of_earlier_versions_of_frepo_are_accepted(services):
    hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
    old = hasher.hash(RIGHT)

    assert (True, False) == tuple(
        services.versions._passwords.matches(password, old) for password in (RIGHT, "wrong-5ecre7")
    )


@pytest.mark.databases
@pytest.mark.parametrize("query", [{"searchQuery": "a.t"}, {"searchQuery": "A"}, {"tags": "news"}])
def test_a_search_does_not_find_a_name_that_a_password_masks(root, holder, query):
    root.upload(name="a.txt", tags="news", password=RIGHT, public="true")
    lister = holder(Role.VIEW_LISTING, Role.VIEW_ALL_TAGS)

    def found(**more):
        answer = lister.get("/repository", query | more).json
        return len(answer["results"]), answer["pagination"]["max"]

    assert (0, 1) == found(limit=1)
    assert (0, 1) == found(limit=1, password="wrong-5ecre7")
    assert (1, 1) == found(limit=1, password=RIGHT)
    assert 1 == len(
        holder(Role.VIEW_LISTING, Role.VIEW_ALL_TAGS, Role.VIEW_ANY_FILE).get("/repository", query).json["results"]
    )
