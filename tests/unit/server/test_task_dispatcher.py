"""The server's workers: short requests do not run concurrently, a long one does not block the others."""

import threading

import pytest

from frepo_server.task_dispatcher import TaskDispatcher

LONG, NEVER = 30, 3600


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


@pytest.fixture
def workers():
    started = []

    def workers(short, threads=4):
        turns = TaskDispatcher(short)
        started.append(turns)
        turns.set_thread_count(threads)
        return turns

    yield workers
    for turns in started:
        turns.shutdown()
        assert (set(), 0) == (turns.threads, turns.active_count)


def test_short_tasks_run_one_after_the_other_in_order(workers):
    turns, order = workers(NEVER), []
    tasks = [Task(order) for _ in range(20)]
    for task in tasks:
        turns.add_task(task)
    for task in tasks:
        assert task.begun.wait(LONG)
        assert tasks.index(task) == len(order) - 1
        task.may_end.set()


def test_a_long_task_does_not_block_the_others(workers):
    """The second task is in the queue when the first one becomes long; no other event starts it."""
    turns = workers(0.05)
    tasks = [Task() for _ in range(4)]
    for task in tasks:
        turns.add_task(task)

    assert all(task.begun.wait(LONG) for task in tasks)
    for task in tasks:
        task.may_end.set()


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
