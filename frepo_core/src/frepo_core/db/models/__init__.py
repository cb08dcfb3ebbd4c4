"""The database tables as SQLAlchemy models, one module for each theme."""

from .aliases import Alias
from .base import NAMES, Base
from .collections import Collection, CollectionSender, CollectionToken
from .contents import OBJECT_SIZE, Content, ContentSketch, EncodingTrial, StoredObject
from .enrolment import EnrolmentCode, EnrolmentCollection
from .events import Event
from .files import File, Tag, file_tag
from .plugins import PluginValue
from .runs import Run
from .tokens import Token
from .trash import DeletedCollection, DeletedCollectionToken, TrashCheck, TrashEntry
from .upkeep import Installation, Sample, StorageMark
from .uploads import Upload
from .versions import Retained, Version, VersionCheck
from .worker import JobRequest, JobRun, JobState, Lease, ParkedEvent, Subscription

__all__ = [
    "NAMES",
    "OBJECT_SIZE",
    "Alias",
    "Base",
    "Collection",
    "CollectionSender",
    "CollectionToken",
    "Content",
    "ContentSketch",
    "DeletedCollection",
    "DeletedCollectionToken",
    "EncodingTrial",
    "EnrolmentCode",
    "EnrolmentCollection",
    "Event",
    "File",
    "Installation",
    "JobRequest",
    "JobRun",
    "JobState",
    "Lease",
    "ParkedEvent",
    "PluginValue",
    "Retained",
    "Run",
    "Sample",
    "StorageMark",
    "StoredObject",
    "Subscription",
    "Tag",
    "Token",
    "TrashCheck",
    "TrashEntry",
    "Upload",
    "Version",
    "VersionCheck",
    "file_tag",
]
