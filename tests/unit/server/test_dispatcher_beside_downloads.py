"""Requests that wait for something run at the same time, also while another thread of the process computes."""

import contextlib
import threading
import time

import pytest

from frepo_server.task_dispatcher import TaskDispatcher

TASKS, LONG = 8, 20


class Waiting:
    """Waits until all tasks have begun."""

    def __init__(self, together):
        self._together = together

    def service(self):
        with contextlib.suppress(threading.BrokenBarrierError):
            self._together.wait(LONG)

    def cancel(self):
        self._together.abort()


@pytest.fixture
def computing():
    """A thread that computes, as the one that reads sockets does during a fast transfer."""
    is_over = threading.Event()

    def compute():
        while not is_over.is_set():
            pass

    thread = threading.Thread(target=compute)
    thread.start()
    yield
    is_over.set()
    thread.join()


@pytest.fixture
def turns():
    turns = TaskDispatcher(short=0.002, long=LONG)
    turns.set_thread_count(TASKS)
    yield turns
    turns.shutdown()


def test_tasks_that_wait_run_together_while_another_thread_computes(turns, computing):
    together = threading.Barrier(TASKS + 1)
    for _ in range(TASKS):
        turns.add_task(Waiting(together))
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and (seconds := turns.start_waiting()):
        time.sleep(seconds)
    waiting = len(turns.queue)
    together.abort()

    assert 0 == waiting, f"{waiting} of {TASKS} tasks were not started within five seconds"
