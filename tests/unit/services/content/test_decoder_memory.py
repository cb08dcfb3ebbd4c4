"""The memory for decoding uploads is shared, and given back whatever happens."""

import threading

import pytest

from frepo_core.errors import ReadersBusyError
from frepo_core.services.content.decoder_memory import (
    LARGEST_WINDOW,
    PIECES,
    SMALL_WINDOW,
    DecoderMemory,
    DecoderWait,
)

NONE = DecoderWait(seconds=0)


def memory(small):
    """Return memory for so many small windows."""
    return DecoderMemory(small * (SMALL_WINDOW + PIECES))


def require_full(memory, window):
    with pytest.raises(ReadersBusyError, match="try again later"), memory.taken(window, NONE):
        pass


def test_small_windows_share_it():
    shared = memory(2)
    with shared.taken(SMALL_WINDOW, NONE), shared.taken(SMALL_WINDOW, NONE):
        require_full(shared, 1)
    with shared.taken(SMALL_WINDOW, NONE), shared.taken(1 << 15, NONE):
        pass


def test_large_windows_have_one_place_next_to_it():
    shared = memory(1)
    with shared.taken(SMALL_WINDOW + 1, NONE):
        require_full(shared, LARGEST_WINDOW)
        with shared.taken(SMALL_WINDOW, NONE):
            pass
    with shared.taken(LARGEST_WINDOW, NONE):
        pass


def test_who_waits_gets_it_in_order():
    shared, order, waiting = memory(1), [], threading.Semaphore(0)

    def decode(number):
        with shared.taken(SMALL_WINDOW, DecoderWait(seconds=30, begin=lambda: waiting.release() or True)):
            order.append(number)

    threads = [threading.Thread(target=decode, args=(number,)) for number in range(4)]
    with shared.taken(1, NONE):
        for thread in threads:
            thread.start()
            waiting.acquire()
    for thread in threads:
        thread.join()

    assert [0, 1, 2, 3] == order


def test_a_small_share_does_not_overtake_a_larger_one_that_waits():
    shared, waiting = memory(1), threading.Event()

    def decode():
        with shared.taken(SMALL_WINDOW, DecoderWait(seconds=30, begin=lambda: waiting.set() or True)):
            pass

    thread = threading.Thread(target=decode)
    with shared.taken(1, NONE):
        thread.start()
        waiting.wait()
        require_full(shared, 1)
    thread.join()


def test_who_waits_stops_when_its_client_is_gone():
    shared = memory(1)
    gone = DecoderWait(seconds=30, is_wanted=lambda: False)
    with shared.taken(SMALL_WINDOW, NONE), pytest.raises(ReadersBusyError), shared.taken(SMALL_WINDOW, gone):
        pass


def test_only_so_many_wait():
    shared, asked = memory(1), []
    patience = DecoderWait(seconds=30, most=0, begin=lambda: asked.append(1) or True)
    with shared.taken(SMALL_WINDOW, NONE), pytest.raises(ReadersBusyError), shared.taken(SMALL_WINDOW, patience):
        pass

    assert [] == asked
