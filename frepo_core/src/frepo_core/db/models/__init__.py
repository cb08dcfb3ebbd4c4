"""The database tables as SQLAlchemy models, one module for each theme."""

from .aliases import Alias
from .base import NAMES, Base
from .collections import Collection, CollectionSender, CollectionToken
from .copies import BlobCopy
from .enrolment import EnrolmentCode, EnrolmentCollection
from .events import Event
from .files import OBJECT_SIZE, Blob, File, ReplacedObject, Tag, file_tag
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
    "Blob",
    "BlobCopy",
    "Collection",
    "CollectionSender",
    "CollectionToken",
    "DeletedCollection",
    "DeletedCollectionToken",
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
    "ReplacedObject",
    "Retained",
    "Run",
    "Sample",
    "StorageMark",
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
