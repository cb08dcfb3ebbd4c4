"""The storage `ftp` reuses its connections, releases them, and replaces closed ones."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest

from frepo_core.testing import pattern
from support.ftp import SIZE, await_sessions, keys, needs_proftpd, put, storage
from support.servers.proftpd import run_proftpd

pytestmark = needs_proftpd


def test_a_connection_is_used_again(own_server):
    backend = storage(own_server)

    backend.check()
    (first,) = own_server.sessions()
    for _ in range(4):
        backend.check()

    assert [first] == own_server.sessions()


def test_readers_that_are_closed_early_do_not_use_connections_up(own_server):
    backend = storage(own_server)
    put(backend, size=SIZE)
    (first,) = own_server.sessions()

    for start in range(10):
        with backend.open("aa/blob", start) as blob:
            assert pattern(start, 10) == blob.read(10)

    assert [first] == own_server.sessions()


@pytest.mark.costly
def test_a_reader_that_is_forgotten_gives_its_connection_back(own_server):
    backend = storage(own_server)
    put(backend, size=SIZE)
    blob = backend.open("aa/blob")
    blob.read(10)

    del blob
    gc.collect()
    backend.check()

    assert 1 == len(own_server.sessions())


@pytest.mark.costly
def test_no_more_idle_connections_are_kept_than_set(own_server):
    backend = storage(own_server, pool_size=2)

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda _: backend.check(), range(32)):
            pass

    await_sessions(own_server, 2)


@pytest.mark.costly
def test_connections_that_were_killed_between_calls_are_replaced(own_server):
    backend = storage(own_server)
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda number: put(backend, f"aa/{number}"), range(8)):
            pass

    own_server.kill_sessions()
    put(backend, "aa/after")

    assert 9 == len(keys(backend))


def test_a_connection_that_the_server_ended_by_421_is_replaced():
    with run_proftpd(directives="TimeoutIdle 3") as server:
        backend = storage(server)
        put(backend)
        await_sessions(server, 0)

        assert ["aa/blob"] == keys(backend)
