"""The services over one database. `assembly` builds them."""

from dataclasses import dataclass, field

from frepo_core.plugins import RequestObserver

from .assembly.access_services import AccessServices
from .assembly.collection_services import CollectionServices
from .assembly.file_services import FileServices
from .assembly.foundation import Foundation
from .assembly.trash_services import TrashServices
from .events.audit import Audit
from .health import Health
from .inventory.inventory import Inventory
from .jobs.jobs import Jobs
from .jobs.worker import Worker
from .overview.overview import Overviews
from .service_time import ServiceTime


@dataclass(frozen=True, kw_only=True)
class CoreServices(Foundation, AccessServices, FileServices, CollectionServices, TrashServices):
    """The services that the built-in jobs use."""

    audit: Audit
    health: Health
    overviews: Overviews


@dataclass(frozen=True, kw_only=True)
class Services(CoreServices):
    """All services that the web API and the console application call.

    `request_observers` are called after each request.
    """

    jobs: Jobs
    inventory: Inventory
    worker: Worker
    service_time: ServiceTime
    request_observers: list[RequestObserver] = field(default_factory=list)
