"""The hooks about what is in a content, such as one table of a dump."""

from collections.abc import Sequence

from ..content_follower import ContentFollower
from ..markers import hookspec
from ..part_reader import PartReader
from ..part_restorer import PartRestorer

# pluggy calls the implementations, so the bodies are empty.


@hookspec
def frepo_content_followers() -> Sequence[ContentFollower]:  # type: ignore[empty-body]
    """Return what reads the content of versions when they are checked, so that a content is read once.

    :when: once, at the start; `follow` for each version that is uploaded and needs no further check, up to 256 MiB, and
        for each one that the job of a check reads with `Service.followed`
    :thread: `follow`: a thread of its own, for one upload after the other. No request waits for it
    :transaction: outside
    :failure: the log names the follower; the upload, the check and its verdict stay as they are

    .. versionadded:: 0.2

    Example::

        @hookimpl
        def frepo_content_followers():
            return [ContentFollower(name="acme", follow=count_lines)]
    """


@hookspec
def frepo_part_readers() -> Sequence[PartReader]:  # type: ignore[empty-body]
    """Return the readers of this plug-in: formats of which the parts can be listed and given alone.

    :when: once, at the start, and in each process that lists a content; `list` for each content of the format,
        `extract` for each part that somebody asks for
    :thread: `list`: the main thread of a process of its own, with limits; `extract`: the thread of a request
    :transaction: outside
    :failure: hook: the start stops. `list`: the content has no list, and the console and the API say why. `extract`:
        the answer is cut off, and the log names the error

    .. versionadded:: 0.2

    Example::

        @hookimpl
        def frepo_part_readers():
            return [PartReader(name="acme", label="Acme box", recognizes=is_box, list=list_box, extract=unpack)]
    """


@hookspec
def frepo_part_restorers() -> Sequence[PartRestorer]:  # type: ignore[empty-body]
    """Return what gives one table or one file of a backup to `frepo restore`. The first one that is installed is used.

    :when: once, at the start; its functions for `frepo restore NAME --table NAME` and `--path PATH`
    :thread: the main thread of the command
    :transaction: outside
    :failure: the command ends with an error, and no file is left

    .. versionadded:: 0.2

    Example::

        @hookimpl
        def frepo_part_restorers():
            return [PartRestorer(name="acme", table=find_table, path=write_path)]
    """
