"""A local file whose disk fails is read on from another copy by a thread: the server does not wait for it."""

import io
import os
import threading
from errno import EIO

import pytest

from frepo_core.features.second_copies.continued_content import ContinuedFile
from support.servers.in_process import running_server
from support.wire import Wire, head

CONTENT = os.urandom(1 << 20) * 24
BAD = 20 << 20  # more than the kernel takes, so that the thread that serves all connections reads it


class BadDisk(io.BytesIO):
    """A local file with a bad sector."""

    def read(self, size=-1, /):
        if self.tell() + size > BAD:
            raise OSError(EIO, "bad sector")
        return super().read(size)


class Far:
    """A storage far away, which answers when it is told to."""

    def __init__(self):
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        self.threads = set()

    def open(self, position, error):
        self.threads.add(threading.current_thread().name)
        self.is_asked.set()
        assert self.may_answer.wait(60)
        return io.BytesIO(CONTENT[position:])


@pytest.fixture
def far():
    far = Far()
    yield far
    far.may_answer.set()


@pytest.fixture
def server(far):
    def application(environ, start_response):
        if environ["PATH_INFO"] != "/file":
            start_response("200 OK", [("Content-Length", "0")])
            return []
        start_response("200 OK", [("Content-Length", str(len(CONTENT)))])
        return environ["wsgi.file_wrapper"](ContinuedFile(BadDisk(CONTENT), len(CONTENT), far.open), 1 << 18)

    with running_server(application) as server:
        yield server


def test_others_are_served_while_another_copy_is_opened(server, far):
    with Wire(server) as waiting, Wire(server) as other:
        waiting.send(head("GET", "/file"))
        assert 200 == other.send(head("GET", "/")).reply("GET").status
        reply = threading.Thread(target=lambda: replies.append(waiting.reply("GET").body))
        replies = []
        reply.start()
        assert far.is_asked.wait(60)

        assert 200 == other.send(head("GET", "/")).reply("GET").status
        assert [] == replies
        far.may_answer.set()
        reply.join(60)

    assert [CONTENT] == replies
    assert {"frepo-read-ahead"} == far.threads
