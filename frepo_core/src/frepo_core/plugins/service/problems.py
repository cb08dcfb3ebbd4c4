"""How plug-ins report that something is wrong with a collection."""

from typing import Protocol


class ReportingService(Protocol):
    """What plug-ins can say about the state of a collection."""

    def report_problem(self, collection_id: str, name: str, message: str | None) -> bool:
        """Report a problem of a collection, or with None that it has ended; return whether that is news.

        The collection is in the state `problem` until then, with the message as the reason: in lists and counts, on its
        page, in `frepo status`, and in the health check `collection_problems`. The event `collection.problem` is
        recorded when it begins, and `collection.problem_ended` when it ends, not when the message changes. So call this
        as often as you look.

        `name` says which problem it is, in small letters, digits and underscores, at most 64; it is the plug-in's own.
        `message` is a part of a sentence for people, such as `100 segments are missing`, of at most 300 characters. A
        plug-in can report 20 problems of a collection at once. Those of one that is not installed any more end.

        Raises `NotFoundError` without such a collection, `ReadOnlyError`, and `ValueError`.
        """
