"""Those who read a content when it is checked. Nothing that they do changes what the check says."""

import contextlib
import io
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from queue import Full, Queue
from typing import BinaryIO, cast

from frepo_core.plugins import ContentFollower, FollowedContent, NotFollowed, PluginContext
from frepo_core.plugins.registry import Owned, PluginRegistry

from ...base.plugin_failures import PLUGIN_FAILURES, raise_interrupt
from ..ingest import Content
from .positioned_file import open_at
from .shared_reading import SharedReading

log = logging.getLogger(__name__)

# Uploads that wait for their turn: the bytes of each are kept until then, small ones in memory.
WAITING = 32
_SMALL = 512 << 10
# The disk for temporary files keeps what is larger no longer than its upload needs it.
_LARGEST = 256 << 20
# So many bytes are kept for all of them together.
_MOST = 512 << 20


class Followers:
    """The followers that are installed, for one process."""

    def __init__(self, plugins: PluginRegistry, contexts: Mapping[str, PluginContext]) -> None:
        self._all = [(owned, contexts[owned.plugin.name]) for owned in plugins.content_followers.values()]
        self._smallest = min((owned.spec.smallest for owned, _ in self._all), default=_LARGEST)
        self._waiting: Queue[FollowedContent] = Queue(WAITING)
        self._kept = 0
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def offer(self, content: Content) -> None:
        """Let the followers read an upload that was checked just now, while its bytes are at hand.

        They read one after the other, and no request waits for that. Those that find no place are left out.
        """
        if not self._smallest <= content.size <= _LARGEST or not self._all or self._waiting.full():
            return
        with self._lock:
            if self._kept + content.size > _MOST:
                return
            try:
                self._waiting.put_nowait(_kept(content))
            except (Full, OSError, ValueError):  # no descriptor is left, or the stream has none
                return
            self._kept += content.size
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="content-followers", daemon=True)
                self._thread.start()

    @contextlib.contextmanager
    def following(self, file: BinaryIO, size: int, sha256: str) -> Iterator[SharedReading]:
        """Yield the one reading of a stored content: for its check, and for the followers."""
        reading = SharedReading(file, size)
        for owned, context in self._of(size):
            own = reading.follow()
            content = FollowedContent(size=size, sha256=sha256, file=open_at(size, own.read_at))
            arguments = (owned, context, content, own.leave)
            threading.Thread(target=_follow, args=arguments, name="content-follower", daemon=True).start()
        try:
            yield reading
        finally:
            reading.end()

    def _of(self, size: int) -> list[tuple[Owned[ContentFollower], PluginContext]]:
        return [one for one in self._all if one[0].spec.smallest <= size]

    def _work(self) -> None:
        while True:
            content = self._waiting.get()
            with contextlib.closing(content.file):
                for owned, context in self._of(content.size):
                    _follow(owned, context, content, lambda: None)
                    if content.file.closed:  # by that one
                        break
                    content.file.seek(0)
            with self._lock:
                self._kept -= content.size
            del content


def _follow(
    owned: Owned[ContentFollower], context: PluginContext, content: FollowedContent, leave: Callable[[], None]
) -> None:
    origin = f"the follower {owned.spec.name!r} ({owned.plugin.origin})"
    try:
        owned.spec.follow(content, context)
    except NotFollowed as reason:
        log.debug("%s has not read the content %s to its end: %s", origin, content.sha256, reason)
    except PLUGIN_FAILURES as error:
        with contextlib.suppress(BaseException):
            raise_interrupt(error)
        log.exception("%s failed for the content %s", origin, content.sha256)
    finally:
        leave()


def _kept(content: Content) -> FollowedContent:
    """Return an upload that can be read on after its request has ended. The position of its stream stays."""
    stream, start = content.stream, content.stream.tell()
    if content.size <= _SMALL:
        file = cast(BinaryIO, io.BytesIO(stream.read(content.size)))
        stream.seek(start)
    else:
        descriptor = os.dup(stream.fileno())
        file = open_at(
            content.size,
            lambda position, size: os.pread(descriptor, min(size, content.size - position), start + position),
            partial(os.close, descriptor),
        )
    return FollowedContent(size=content.size, sha256=content.digest, file=file)
