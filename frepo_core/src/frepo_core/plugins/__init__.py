"""The API for authors of plug-ins: the hook marker, contracts, settings, helpers and errors."""

from frepo_core.errors import (
    AccessDeniedError,
    BlobNotFound,
    ConfigurationError,
    FrepoError,
    NotFoundError,
    RemoteError,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from frepo_core.settings.types import Networks, Seconds, Size

from .context import PluginContext, make_contexts
from .discovery import FoundPlugin, find_mistakes
from .health_check import HealthCheck
from .hookspecs import hookimpl
from .job import Job, JobContext, Lane, LeaseLost
from .lifecycle import Lifecycle
from .pages import MenuEntry, Pages
from .registry import Owned, PluginRegistry
from .service import (
    CollectionUsage,
    Collector,
    EventCount,
    HttpAnswer,
    JobStatus,
    PendingCheck,
    RequestObserver,
    Service,
    ServiceStatistics,
)
from .settings import PluginSettings, SettingsSpec
from .storage import BlobStat, StorageBackend, StorageSettings, StorageSpec
from .storage_helpers import (
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
from .subscriber import Event, EventHandler, Subscriber
from .upload_check import (
    CheckFunction,
    CheckResult,
    CollectionInfo,
    Finding,
    OnFinding,
    Outcome,
    UploadCheck,
    UploadedContent,
    check_deadline,
    check_on_finding,
)

__all__ = [
    "PARTIAL",
    "AccessDeniedError",
    "BlobNotFound",
    "BlobStat",
    "CheckFunction",
    "CheckResult",
    "CollectionFull",
    "CollectionInfo",
    "CollectionState",
    "CollectionStrategy",
    "CollectionUsage",
    "Collector",
    "ConfigurationError",
    "Event",
    "EventCount",
    "EventHandler",
    "ExactReader",
    "Finding",
    "FoundPlugin",
    "FrepoError",
    "HealthCheck",
    "HttpAnswer",
    "IncomingVersion",
    "Job",
    "JobContext",
    "JobStatus",
    "Lane",
    "LeaseLost",
    "Lifecycle",
    "MenuEntry",
    "Networks",
    "NotFoundError",
    "OnFinding",
    "Outcome",
    "Owned",
    "Pages",
    "PendingCheck",
    "PluginContext",
    "PluginRegistry",
    "PluginSettings",
    "RemoteError",
    "RequestObserver",
    "Seconds",
    "Service",
    "ServiceStatistics",
    "SettingsSpec",
    "Size",
    "StorageBackend",
    "StorageError",
    "StorageFull",
    "StorageSettings",
    "StorageSpec",
    "StorageUnavailable",
    "StrategyOptions",
    "StrategySpec",
    "Subscriber",
    "UploadCheck",
    "UploadedContent",
    "VersionInfo",
    "Window",
    "check_deadline",
    "check_on_finding",
    "exactly",
    "find_mistakes",
    "hookimpl",
    "is_blob_key",
    "is_key",
    "is_partial_path",
    "make_contexts",
    "partial_name",
]
