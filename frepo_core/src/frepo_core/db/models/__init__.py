"""The database tables as SQLAlchemy models, one module for each theme."""

from .base import NAMES, Base
from .collections import Collection, CollectionSender, CollectionToken
from .contents import OBJECT_SIZE, Content, ContentSketch, EncodingTrial, StoredObject
from .events import Event
from .files import Alias, File, Tag, Upload, file_tag
from .restoring import RestoreChoice
from .tokens import EnrolmentCode, EnrolmentCollection, Token
from .trash import DeletedCollection, DeletedCollectionToken, TrashCheck, TrashEntry
from .upkeep import Installation, PluginRow, PluginRowChange, PluginValue, Sample, StorageMark
from .versions import Retained, Run, Version, VersionCheck, VersionLabel
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
    "PluginRow",
    "PluginRowChange",
    "PluginValue",
    "RestoreChoice",
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
    "VersionLabel",
    "file_tag",
]
