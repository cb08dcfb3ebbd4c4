"""Uploads of the real services: each is a thread that waits before it stores and before its transaction."""

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial, partialmethod
from typing import Any

import pytest

from frepo_core.services.content.blobs.upload_transaction import UploadTransaction

from .places import CONTENTS, STORAGES, Places
from .telling import NotDoneError

STORE, COMMIT = "store", "transact"
_SECONDS = 60
_waiting: dict[threading.Thread, "Upload"] = {}


class Upload:
    """One upload. It goes on until it waits for its next step, or has ended."""

    def __init__(self, push: Callable[[], object], content: int) -> None:
        self.content = content
        self.waits_for: str | None = None
        self.is_killed = False
        self.error: BaseException | None = None
        self.transaction: UploadTransaction[Any] | None = None
        self._stopped, self._goes = threading.Event(), threading.Event()
        thread = threading.Thread(target=self._run, args=(push,), daemon=True)
        _waiting[thread] = self
        thread.start()
        self._wait()

    def go(self) -> None:
        """Let it do its next step."""
        self._goes.set()
        self._wait()

    def pause(self, step: str) -> None:
        """Wait for `go`, in the thread."""
        self.waits_for = step
        self._stopped.set()
        while not self._goes.wait(_SECONDS):
            assert self.is_killed
        self._goes.clear()
        self.waits_for = None

    @property
    def write(self) -> Any:
        """The write of its bytes."""
        assert self.transaction is not None
        return self.transaction._blob_write

    def _wait(self) -> None:
        assert self._stopped.wait(_SECONDS)
        self._stopped.clear()

    def _run(self, push: Callable[[], object]) -> None:
        try:
            push()
        except BaseException as error:  # noqa: BLE001  # whoever waits for it looks at it
            self.error = error
        self._stopped.set()


class Uploads:
    """The uploads in flight."""

    def __init__(self, places: Places, push: Callable[[bytes], object], patch: pytest.MonkeyPatch) -> None:
        self._places = places
        self._push = push
        self._uploads: list[Upload] = []
        for step in (STORE, COMMIT):
            if isinstance(vars(UploadTransaction)[step], partialmethod):
                continue
            patch.setattr(UploadTransaction, step, partialmethod(_pause, getattr(UploadTransaction, step), step))

    def start(self, content: int, storage: int, **_: Any) -> None:
        """Let an upload store its bytes, or see that they are there: one that has to begin again, or a new one."""
        again = [one for one in self._of(content, storage) if one.waits_for == STORE]
        upload = again[0] if again else Upload(partial(self._push, CONTENTS[content]), content)
        if not again:
            self._uploads.append(upload)
        upload.go()

    def commit_own(self, content: int, storage: int, **_: Any) -> None:
        """Run the transaction of an upload that has stored bytes."""
        self._commit(self._own(content, storage, has_row=False), storage)

    def commit_seen(self, content: int, storage: int, **_: Any) -> None:
        """Run the transaction of an upload that has seen bytes."""
        self._commit(self._seeing(content, storage), storage)

    def repeat_own(self, content: int, storage: int, **_: Any) -> None:
        """Run the transaction of an upload whose bytes a sweep has found or deleted: it begins again."""
        self._repeat(self._own(content, storage, has_row=True))

    def repeat_seen(self, content: int, storage: int, **_: Any) -> None:
        """Run the transaction of an upload that has seen bytes which are not usable any more: it begins again."""
        self._repeat(self._seeing(content, storage))

    def grow_old(self, key: str) -> None:
        """Let the upload that has stored these bytes have done so two hours ago: a sweep finds no younger ones."""
        for upload in self._uploads:
            if upload.waits_for == COMMIT and upload.write._key == key:
                upload.write._stored_at -= timedelta(hours=2)

    def end(self) -> None:
        """Let all come to their ends."""
        for upload in self._uploads:
            while upload.waits_for:
                upload.go()

    def kill(self) -> None:
        """Leave all where they are, as if their process was killed: their threads wait for ever."""
        for upload in self._uploads:
            upload.is_killed = True
        self._uploads.clear()

    def _commit(self, upload: Upload, storage: int) -> None:
        _go_on(upload)
        if upload.waits_for == STORE and self._places.backends.current != STORAGES[storage]:
            upload.write._discard_left()  # what it does next, in the promoted storage
        elif upload.waits_for:
            raise NotDoneError(f"the upload waits again for: {upload.waits_for}")
        else:
            self._uploads.remove(upload)
            if upload.error:
                raise NotDoneError from upload.error

    def _repeat(self, upload: Upload) -> None:
        _go_on(upload)
        if upload.waits_for != STORE:
            raise NotDoneError("the upload does not begin again")

    def _own(self, content: int, storage: int, *, has_row: bool) -> Upload:
        named = self._places.keys_with_rows()
        stored = set(self._places.keys(STORAGES[storage])) - named
        waiting = [one for one in self._of(content, storage) if one.waits_for == COMMIT and one.write._key]
        return next((one for one in waiting if (one.write._key not in stored) == has_row), waiting[0])

    def _seeing(self, content: int, storage: int) -> Upload:
        waiting = [one for one in self._of(content, storage) if one.waits_for == COMMIT]
        return next(one for one in waiting if one.write._key is None)

    def _of(self, content: int, storage: int) -> list[Upload]:
        uploads = [one for one in self._uploads if one.content == content and one.transaction is not None]
        return [one for one in uploads if one.write.storage == STORAGES[storage]]


def _go_on(upload: Upload) -> None:
    upload.go()
    while upload.waits_for == COMMIT:  # the collection was changed meanwhile
        upload.go()


def _pause(transaction: UploadTransaction[Any], step: Callable[..., Any], name: str) -> Any:
    if upload := _waiting.get(threading.current_thread()):
        upload.transaction = transaction
        upload.pause(name)
    return step(transaction)
