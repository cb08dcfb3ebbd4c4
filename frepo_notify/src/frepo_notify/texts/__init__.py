"""The texts of notifications: what happened, and what to do."""

from .backups import BROKEN, BROKEN_ARRIVAL, KIND_CHANGED, NEW_NORMAL, OVERTAKEN
from .kinds import TEXTS
from .messages import make_message, own_message
from .sentences import (
    count_of,
    describe,
    is_problem,
    most_serious_first,
    title_of,
    topic_of,
    topics_of,
    without_repetitions,
)
from .text import Level, Text

__all__ = [
    "BROKEN",
    "BROKEN_ARRIVAL",
    "KIND_CHANGED",
    "NEW_NORMAL",
    "OVERTAKEN",
    "TEXTS",
    "Level",
    "Text",
    "count_of",
    "describe",
    "is_problem",
    "make_message",
    "most_serious_first",
    "own_message",
    "title_of",
    "topic_of",
    "topics_of",
    "without_repetitions",
]
