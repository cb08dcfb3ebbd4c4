from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

from sqlalchemy import select

from frepo_core.db.build_once import build_once
from frepo_core.db.models import File


def test_threads_that_ask_first_at_the_same_moment_get_the_same_part():
    building = Barrier(2)

    @build_once
    def part():
        with suppress(BrokenBarrierError):
            building.wait(0.2)  # for another thread that builds it, too
        return select(File.id).cte("lost")

    with ThreadPoolExecutor() as threads:
        one, other = [future.result() for future in [threads.submit(part), threads.submit(part)]]

    str(select(one.c.id, other.c.id))  # of two parts: "Multiple, unrelated CTEs found with the same name"
