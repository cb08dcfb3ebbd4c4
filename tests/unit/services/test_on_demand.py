"""Services of features, which are made when somebody asks for them."""

import threading
import time

from frepo_core.services.composition.features import on_demand


class Services:
    def __init__(self):
        self.made = []

    @on_demand
    def reports(self):
        self.made.append(threading.get_ident())
        time.sleep(0.05)
        return [self.figures]

    @on_demand
    def figures(self):
        return object()


def test_threads_that_ask_at_a_time_get_one_service():
    services, found = Services(), []
    threads = [threading.Thread(target=lambda: found.append(services.reports)) for _ in range(8)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(services.made) == 1
    assert len({id(each) for each in found}) == 1
    assert found[0] == [services.figures]
