"""The main use case, nightly dumps, through nginx, on two processes, PostgreSQL and S3."""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from frepo_storage_s3 import S3Settings
from frepo_storage_s3.backend import make_client
from support.scale import only_in_long_form
from support.servers.nginx import LEFT_OUT
from support.servers.service import ROOT

MIB = 1 << 20


def counts(site, path):
    """Return the collection's last number, count and size, then the count and size computed from its versions."""
    [row] = site.rows(
        "SELECT last_number, versions_count, collection.stored_size, count(version.id), sum(content.size) "
        "FROM collection "
        "JOIN version ON version.collection_id = collection.id JOIN file ON file.id = version.file_id "
        "JOIN content ON content.id = file.content_id "
        f"WHERE collection.id = '{path.split('/')[3]}' GROUP BY collection.id"
    )
    return row


@pytest.fixture
def stored(bucket):
    """Return how often a content is in the bucket."""
    client = make_client(S3Settings(**bucket))

    def stored(content):
        digest = hashlib.sha256(content).hexdigest()
        return client.list_objects_v2(Bucket="frepo", Prefix=f"{digest[:2]}/{digest}")["KeyCount"]

    return stored


def test_four_nights_and_two_restores(site, tmp_path):
    environment = site.environment | {"FREPO_URL": site.url, "SIZE_MB": "3", "PYTHON": sys.executable}

    done = subprocess.run(
        ["bash", str(ROOT / "examples/nightly-dump.sh")],
        env=environment | {"ADMIN_TOKEN": site.admin},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert site.rows("SELECT DISTINCT storage FROM object") == [("awss3v3",)]


@pytest.mark.costly
def test_a_large_dump_comes_back_whole_and_in_ranges(site):
    path, content = site.collection(), os.urandom(20 * MIB)

    pushed = site.push(path, content)
    link = site.curl(f"{path}/latest?redirect=false", "-H", f"X-Auth-Token: {site.admin}").json["url"]

    assert pushed.json["version"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert site.curl(link).body == content
    assert site.curl(link, "-r", f"{15 * MIB}-").body == content[15 * MIB :]


@pytest.mark.costly
def test_pushes_through_both_processes_leave_the_newest_three(site):
    path, contents = site.collection(), [os.urandom(100_000) for _ in range(24)]
    # An upload that a later one of its own token overtakes is put into quarantine.
    tokens = [site.new_token() for _ in contents]

    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda content, token: site.push(path, content, token=token), contents, tokens))

    assert {reply.status for reply in replies} == {200}
    assert sorted(reply.json["version"]["version"] for reply in replies) == list(range(1, 25))
    assert site.versions(path) == [22, 23, 24]
    assert counts(site, path) == (24, 3, 300_000, 3, 300_000)
    assert all(path.split("/")[3] in service.log.read_text() for service in site.services), "one process did it all"


@pytest.mark.costly
def test_rotated_versions_leave_the_store_with_the_trash(site, stored):
    path, contents = site.collection(maxBackupsCount=1), [os.urandom(1000) for _ in range(3)]

    for content in contents:
        site.push(path, content)
    assert [stored(content) for content in contents] == [1, 1, 1]

    trash, token = f"/api/v1/collections/{path.split('/')[3]}/trash", f"X-Auth-Token: {site.admin}"
    assert site.curl(trash, "-X", "DELETE", "-H", token).status == 204
    assert [stored(content) for content in contents] == [0, 0, 1]


@pytest.mark.costly
def test_the_same_content_through_both_processes_is_stored_once(site, stored):
    content = os.urandom(5 * MIB)

    def upload(number):
        url = site.services[number % 2].url  # directly, not through nginx, so that both receive requests
        return site.push(f"{url}/repository/file/upload?fileName={number}.bin", content).json

    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(upload, range(6)))

    digest = hashlib.sha256(content).hexdigest()
    assert site.rows(f"SELECT count(*) FROM content WHERE digest = '{digest}'") == [(1,)]
    assert stored(content) == 1
    assert all(site.curl(answer["url"]).body == content for answer in answers)


def test_a_killed_process_loses_only_its_own_upload(site):
    path, killed, other = site.collection(), *site.services
    site.push(path, b"before")
    reading, writing = os.pipe()
    command = ["curl", "-sS", "-o", os.devnull, "-w", "%{http_code}", "-X", "POST", "-T", "-"]
    command += ["-H", f"X-Auth-Token: {site.admin}", killed.url + path]
    upload = subprocess.Popen(command, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(reading)
    with contextlib.ExitStack() as stack, open(writing, "wb", buffering=0) as pipe:
        stack.callback(upload.communicate)
        pipe.write(b"x" * MIB)
        killed.stop(with_signal=9)
        replies = [site.push(path, f"after {number}".encode()) for number in range(4)]
        with contextlib.suppress(BrokenPipeError):
            pipe.write(b"x" * MIB)
    killed.start()

    assert upload.returncode != 0
    assert [reply.json["version"]["version"] for reply in replies] == [2, 3, 4, 5]
    assert site.versions(path) == [3, 4, 5]
    assert counts(site, path)[:2] == (5, 3)
    assert other.process.poll() is None
    assert site.push(path, b"and on").json["version"]["version"] == 6


@only_in_long_form
def test_a_process_that_is_killed_while_it_stores_leaves_no_row_without_bytes(site, stored):
    path, killed = site.collection(), site.services[0]
    site.push(path, b"before")
    content = os.urandom(48 * MIB)

    def push():
        with contextlib.suppress(subprocess.CalledProcessError):
            site.push(killed.url + path, content)

    thread = threading.Thread(target=push)
    thread.start()
    time.sleep(0.5)
    killed.stop(with_signal=9)
    thread.join()
    found = counts(site, path)
    again = site.push(path, content)
    killed.start()

    assert found[1:3] == found[3:5]
    assert again.json["version"]["version"] == found[0] + 1
    assert stored(content) in {1, 2}, "the first push may leave an orphan, which storage:sweep collects"


@pytest.mark.costly
@pytest.mark.own_server  # stock waitress aborts running requests
def test_a_rolling_restart_fails_no_push(site):
    path, ended = site.collection(), threading.Event()

    def push_on():
        statuses = []
        while not ended.is_set():
            statuses.append(site.push(path, os.urandom(1000)).status)
        return statuses

    with ThreadPoolExecutor(2) as threads:
        pushing = [threads.submit(push_on) for _ in range(2)]
        try:
            for service in site.services:
                service.stop()
                service.start()
                time.sleep(LEFT_OUT + 1)  # as docs/operations.md does
        finally:
            ended.set()

    statuses = [status for future in pushing for status in future.result()]
    assert set(statuses) == {200}
    assert counts(site, path)[:2] == (len(statuses), 3)
