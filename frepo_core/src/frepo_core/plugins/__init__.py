"""The API for authors of plug-ins: the hook marker, contracts, settings, helpers and errors.

docs/hooks.md describes each name. What only frepo itself needs is imported from the modules.
"""

from frepo_core.domain.backups.runs import ClientCheck, NewRun
from frepo_core.domain.identity import Identity
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import (
    AccessDeniedError,
    BlobDamaged,
    BlobNotFound,
    BlobRetained,
    ConfigurationError,
    DatabaseUnavailableError,
    EndpointError,
    FieldsError,
    FrepoError,
    IdempotencyConflictError,
    MissingSecretError,
    NotFoundError,
    ReadOnlyError,
    RemoteError,
    StorageError,
    StorageFull,
    StorageUnavailable,
    StoreConflictError,
)
from frepo_core.settings.types import HARMLESS, Duration, FileMode, Networks, Seconds, Size, Words

from .checks.doctor_check import DoctorCheck, DoctorFinding
from .checks.health_check import HealthCheck
from .checks.upload_check import (
    CheckResult,
    CollectionInfo,
    CollectionProblem,
    Finding,
    OnFinding,
    Outcome,
    PendingCheck,
    UploadCheck,
    UploadedContent,
)
from .checks.upload_policy import PolicyRefusal, PolicyRequest, UploadPolicy
from .console_slot import ConsoleSlot
from .content.checksums import Checksums
from .content.sent_content import SentContent
from .content.session_file import SessionFile
from .content_follower import ContentFollower, FollowedContent, FollowedReading, NotFollowed
from .context import PluginContext
from .events.event import Event, EventCount
from .events.event_kind import PluginEventKind
from .events.message import BoundNotifier, Message, MessageTarget, NotSent
from .guards import Guards
from .job import Job, JobContext, LeaseLost
from .lifecycle import Lifecycle
from .markers import hookimpl
from .notifier import Notifier
from .pages import MenuEntry, Pages
from .part_reader import BoundPartReader, NotListable, Part, PartReader
from .part_restorer import FoundPart, OpenedContent, PartRestorer
from .restore_engine import NotDecided, NotRestored, PlainCopy, RestoredCopy, RestoreEngine, RestoreSource
from .service.administration import CollectionValues, IssuedToken, TokenValues
from .service.collector import Collector
from .service.figures import (
    CollectionUsage,
    CompactStatus,
    CopyStatus,
    ExpectedBackups,
    JobStatus,
    MissingBackup,
    ServiceStatistics,
)
from .service.http import HttpAnswer, RequestObserver
from .service.records import FileInfo, ListPage, StoredVersion, TrashedVersion, UploadStart, VersionCheck
from .service.service import Service
from .service.store import Store, StoredValue, StoreTransaction, Values
from .settings import PluginSettings, SettingsSpec
from .storages.storage import BlobStat, StorageBackend, Storages, StorageSettings, StorageSpec
from .storages.storage_helpers import (
    PARTIAL,
    ExactReader,
    Window,
    exactly,
    is_blob_key,
    is_key,
    is_partial_path,
    partial_name,
)
from .strategy import (
    CollectionFull,
    CollectionState,
    CollectionStrategy,
    IncomingVersion,
    StrategyOptions,
    StrategySpec,
    VersionInfo,
)
from .subscriber import Subscriber, without_old_keys
from .tables import Tables

__all__ = [
    "HARMLESS",
    "PARTIAL",
    "AccessDeniedError",
    "BlobDamaged",
    "BlobNotFound",
    "BlobRetained",
    "BlobStat",
    "BoundNotifier",
    "BoundPartReader",
    "CheckResult",
    "Checksums",
    "ClientCheck",
    "CollectionFull",
    "CollectionInfo",
    "CollectionProblem",
    "CollectionState",
    "CollectionStrategy",
    "CollectionUsage",
    "CollectionValues",
    "Collector",
    "CompactStatus",
    "ConfigurationError",
    "ConsoleSlot",
    "ContentFollower",
    "CopyStatus",
    "DatabaseUnavailableError",
    "DoctorCheck",
    "DoctorFinding",
    "Duration",
    "EndpointError",
    "Event",
    "EventCount",
    "ExactReader",
    "ExpectedBackups",
    "FieldsError",
    "FileInfo",
    "FileMode",
    "Finding",
    "FollowedContent",
    "FollowedReading",
    "FoundPart",
    "FrepoError",
    "Guards",
    "HealthCheck",
    "HttpAnswer",
    "IdempotencyConflictError",
    "Identity",
    "IncomingVersion",
    "IssuedToken",
    "Job",
    "JobContext",
    "JobStatus",
    "LeaseLost",
    "Lifecycle",
    "ListPage",
    "MenuEntry",
    "Message",
    "MessageTarget",
    "MissingBackup",
    "MissingSecretError",
    "Networks",
    "NewRun",
    "NotDecided",
    "NotFollowed",
    "NotFoundError",
    "NotListable",
    "NotRestored",
    "NotSent",
    "Notifier",
    "OnFinding",
    "OpenedContent",
    "Outcome",
    "Pages",
    "Part",
    "PartReader",
    "PartRestorer",
    "PendingCheck",
    "PlainCopy",
    "PluginContext",
    "PluginEventKind",
    "PluginSettings",
    "PolicyRefusal",
    "PolicyRequest",
    "ReadOnlyError",
    "RemoteError",
    "RequestObserver",
    "RestoreEngine",
    "RestoreSource",
    "RestoredCopy",
    "Seconds",
    "SentContent",
    "Service",
    "ServiceStatistics",
    "SessionFile",
    "SettingsSpec",
    "Size",
    "StorageBackend",
    "StorageError",
    "StorageFull",
    "StorageSettings",
    "StorageSpec",
    "StorageUnavailable",
    "Storages",
    "Store",
    "StoreConflictError",
    "StoreTransaction",
    "StoredValue",
    "StoredVersion",
    "StrategyOptions",
    "StrategySpec",
    "Subscriber",
    "Tables",
    "TokenValues",
    "TrashedVersion",
    "UploadCheck",
    "UploadPolicy",
    "UploadStart",
    "UploadedContent",
    "Values",
    "VersionCheck",
    "VersionInfo",
    "Window",
    "Words",
    "exactly",
    "hookimpl",
    "is_blob_key",
    "is_key",
    "is_partial_path",
    "partial_name",
    "readable_size",
    "without_old_keys",
]
