"""Which tokens may use a collection: its list of tokens, and the enrolment of hosts."""

from .enrolment import Enrolled, Enrolments
from .token_list import CollectionAccess

__all__ = ["CollectionAccess", "Enrolled", "Enrolments"]
