"""An upgrade that stops all processes, while clients push, lose their answers, and find no service for a time.

Processes of the earlier code do not know the tables of objects, so none may run beside one of today.
"""

import random
import threading
import time
import uuid
from collections import defaultdict

import pytest

from support.reliability.earlier_commits import EarlierService, unpack
from support.reliability.recording_client import BROKEN
from support.servers.fork_server import ForkedService
from support.wire import Client

# The last commit that kept answers under the id of the collection alone, and without the file that they name.
EARLIER = "343987a0ef21e355e755c2e79980e59668149b33"
CLIENTS = 4


class Pusher:
    """Pushes with a key to one process, ignores the answer, and retries at the others and later."""

    def __init__(self, collection):
        self.processes = []
        self.numbers = defaultdict(list)
        self._collection = collection
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=[seed]) for seed in range(CLIENTS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def push(self, key, service):
        """Push the key's content, and record the number of the answer, if any."""
        numbers = self.numbers[key]
        try:
            reply = Client(service).push(self._collection, f"dump {key}".encode(), {"Idempotency-Key": key})
        except BROKEN:
            return
        if reply.status == 200:
            numbers.append(reply.json["version"]["version"])

    def push_everything_again(self):
        for key in list(self.numbers):
            for service in self.processes:
                self.push(key, service)

    def _work(self, seed):
        rng, keys = random.Random(seed), []
        while not self._ended.is_set():
            keys.append(str(uuid.uuid4()))
            for key in (keys[-1], rng.choice(keys), rng.choice(keys)):
                self.push(key, rng.choice(self.processes))
            time.sleep(0.05)


@pytest.fixture
def services(tmp_path, fork_server):
    """A service of today, and two of the earlier code, over the same state."""
    (tmp_path / "today").mkdir()
    today = ForkedService(tmp_path / "today", fork_server)
    if not unpack(EARLIER, tmp_path / "code"):
        pytest.skip("the earlier code is not in this clone: its history is cut off")
    names = ("APP_SECRETS_FILE", "DATABASE_URL", "FS_LOCAL_DIRECTORY")
    state = {name: today.environment[name] for name in names}
    found = [today]
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        found.append(EarlierService(tmp_path / name, tmp_path / "code", state))
    yield found
    for service in found:
        service.stop()


def test_each_key_is_one_version_over_an_upgrade_of_two_processes(services):
    today, first, second = services
    first.start()
    second.start()
    today._admin = second._admin = first.admin
    pusher = Pusher(Client(first).collection(10_000))
    pusher.processes = [first, second]
    with pusher:
        time.sleep(2)
        first.stop()
        second.stop()
        pusher.processes = [today]
        today.start()
        time.sleep(2)
        pusher.push_everything_again()

    assert len(pusher.numbers) > 20
    assert [] == [(key, numbers) for key, numbers in pusher.numbers.items() if len(set(numbers)) > 1]
    assert max(max(numbers) for numbers in pusher.numbers.values()) == len(pusher.numbers)
