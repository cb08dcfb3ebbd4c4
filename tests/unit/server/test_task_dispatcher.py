"""The server's workers: short requests do not run concurrently, a long one does not block the others."""

import logging
import threading
import time
from types import SimpleNamespace

import pytest

from frepo_server.periodic_warning import PeriodicWarning
from frepo_server.task_dispatcher import WARNING, TaskDispatcher

LONG, NEVER = 60, 3600


class Task:
    """Runs until `may_end` is set, and records that it has begun."""

    def __init__(self, order=None):
        self.order = order if order is not None else []
        self.begun, self.may_end = threading.Event(), threading.Event()

    def service(self):
        self.order.append(self)
        self.begun.set()
        assert self.may_end.wait(LONG)

    def cancel(self):
        self.may_end.set()


def poll(turns):
    """Do what the thread that reads sockets does, until no task waits."""
    while seconds := turns.start_waiting():
        time.sleep(seconds)


@pytest.fixture
def workers():
    started = []

    def workers(short, threads=4):
        turns = TaskDispatcher(short)
        started.append(turns)
        turns.set_thread_count(threads)
        while turns.idle < threads:  # the last idle one is kept for requests without a body
            time.sleep(0.001)
        return turns

    yield workers
    for turns in started:
        turns.shutdown()
        assert (set(), 0) == (turns.threads, turns.stop_count)


def test_short_tasks_run_one_after_the_other_in_order(workers):
    turns, order = workers(NEVER), []
    tasks = [Task(order) for _ in range(20)]
    for task in tasks:
        turns.add_task(task)
    for task in tasks:
        assert task.begun.wait(LONG)
        assert tasks.index(task) == len(order) - 1
        task.may_end.set()


def test_a_task_that_takes_long_does_not_block_the_others(workers):
    """The second task waits when the first one has taken long; only the thread that reads sockets can start it."""
    turns = workers(0.05)
    tasks = [Task() for _ in range(4)]
    for task in tasks:
        turns.add_task(task)
    poll(turns)

    assert all(task.begun.wait(LONG) for task in tasks)
    for task in tasks:
        task.may_end.set()


def test_a_thread_that_becomes_idle_wakes_the_one_that_reads_sockets_if_a_task_may_start_soon(workers, monkeypatch):
    turns, woken, clock = workers(1, threads=2), threading.Event(), [0.0]
    monkeypatch.setattr("frepo_server.task_dispatcher.time", SimpleNamespace(monotonic=lambda: clock[0]))
    turns.wake = woken.set
    first, second, third = (Task() for _ in range(3))
    for task, clock[0] in ((first, 0.0), (second, 10.0), (third, 20.0)):
        turns.add_task(task)

    assert turns.start_waiting() is None, "all threads run tasks"
    clock[0] = 10.5
    first.may_end.set()
    assert woken.wait(LONG)
    assert turns.start_waiting() == 1, "the second task was started half a second ago"
    clock[0] = 11.0
    assert turns.start_waiting() is None
    assert third.begun.wait(LONG)
    for task in (second, third):
        task.may_end.set()


def test_the_thread_that_became_idle_last_gets_the_next_task(workers):
    turns, threads = workers(0), []

    class Quick:
        def __init__(self):
            self.is_done = threading.Event()

        def service(self):
            threads.append(threading.get_ident())
            self.is_done.set()

    for _ in range(20):
        task = Quick()
        turns.add_task(task)
        assert task.is_done.wait(LONG)
        while turns.idle < 4:
            time.sleep(0.001)

    assert len(set(threads)) < 4, "the one that was idle longest, in turn"


def test_fewer_threads_run_the_rest(workers):
    turns = workers(0)
    first, *others = [Task() for _ in range(3)]
    turns.add_task(first)
    assert first.begun.wait(LONG)
    turns.set_thread_count(2)
    for task in others:
        turns.add_task(task)
    assert others[0].begun.wait(LONG)

    assert (2, 0) == (len(turns.threads), turns.stop_count)
    assert not others[1].begun.is_set()
    for task in (first, *others):
        task.may_end.set()
    assert others[1].begun.wait(LONG)


def test_at_most_one_task_runs_in_each_thread(workers):
    turns = workers(0, threads=2)
    tasks = [Task() for _ in range(3)]
    for task in tasks:
        turns.add_task(task)
    assert tasks[0].begun.wait(LONG)
    assert tasks[1].begun.wait(LONG)
    assert not tasks[2].begun.is_set()
    tasks[1].may_end.set()
    assert tasks[2].begun.wait(LONG)
    for task in tasks:
        task.may_end.set()


def test_every_task_runs_once_when_many_threads_add_tasks(workers):
    turns, done = workers(1e-4, threads=8), []

    class Quick:
        def service(self):
            done.append(self)

    tasks = [[Quick() for _ in range(500)] for _ in range(4)]
    last = Task()
    adders = [threading.Thread(target=lambda mine=mine: [turns.add_task(task) for task in mine]) for mine in tasks]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join(LONG)
    last.may_end.set()
    turns.add_task(last)
    poll(turns)
    assert last.begun.wait(LONG)
    turns.shutdown()

    assert (2000, 2000) == (len(done), len(set(map(id, done))))


def test_an_exception_in_a_task_does_not_end_the_thread(workers, caplog):
    turns = workers(NEVER, threads=1)

    class Broken:
        def service(self):
            raise RuntimeError("broken on purpose")

    after = Task()
    after.may_end.set()
    turns.add_task(Broken())
    turns.add_task(after)

    assert after.begun.wait(LONG)
    assert "broken on purpose" in caplog.text


def test_threads_end_while_something_is_queued(workers):
    turns = workers(NEVER)
    first, second = Task(), Task()
    turns.add_task(first)
    assert first.begun.wait(LONG)
    turns.add_task(second)
    threading.Timer(0.2, first.may_end.set).start()  # all threads are stopping by then: none starts the second task
    turns.shutdown()

    assert not turns.queue
    assert second.may_end.is_set() and not second.begun.is_set()


def test_waiting_tasks_are_one_line_in_the_log_not_one_each(caplog):
    turns = TaskDispatcher()
    for _ in range(100):
        turns.add_task(Task())

    assert ["Task queue depth is 1"] == [record.getMessage()[:21] for record in caplog.records]


def test_the_log_counts_the_tasks_that_waited_in_each_minute(caplog, monkeypatch):
    warning = PeriodicWarning(logging.getLogger("waitress.queue"), WARNING)
    for depth, now in ((1, 0.0), (2, 1.0), (7, 59.0), (3, 60.0), (4, 61.0)):
        monkeypatch.setattr("frepo_server.periodic_warning.time", SimpleNamespace(monotonic=lambda now=now: now))
        warning.note(depth, depth)

    first, second = (record.getMessage() for record in caplog.records)
    assert ("1 tasks waited, up to 1 at once" in first, "3 tasks waited, up to 7 at once" in second) == (True, True)


def poll_until_begun(turns, tasks):
    """Do what the thread that reads sockets does, until these tasks have begun."""
    deadline = time.monotonic() + LONG
    while not all(task.begun.is_set() for task in tasks) and time.monotonic() < deadline:
        turns.start_waiting()
        time.sleep(0.005)
    assert all(task.begun.is_set() for task in tasks)


def test_uploads_leave_a_thread_to_other_requests(workers):
    turns = workers(0.002)
    uploads, small = [Task() for _ in range(10)], Task()
    for task in uploads:
        task.is_heavy = True
        turns.add_task(task)
    poll_until_begun(turns, uploads[:3])
    turns.add_task(small)

    poll_until_begun(turns, [small])

    assert uploads[3:] == list(turns.queue)
    for task in [small, *uploads]:
        task.may_end.set()
    poll_until_begun(turns, uploads)


def test_uploads_take_turns_with_other_requests(workers):
    turns, order = workers(NEVER), []
    first, uploads, small = Task(order), [Task(order) for _ in range(3)], [Task(order) for _ in range(3)]
    for task in uploads:
        task.is_heavy = True
    tasks = [first, *uploads, *small]
    for task in tasks:
        task.may_end.set()
    first.may_end.clear()
    for task in tasks:
        turns.add_task(task)
    first.may_end.set()
    assert all(task.begun.wait(LONG) for task in tasks)

    pairs = [task for both in zip(uploads, small, strict=True) for task in both]
    assert [first, *pairs] == order
