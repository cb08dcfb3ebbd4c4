"""The services over one database. `assembly` builds them."""

from dataclasses import dataclass, field

from frepo_core.plugins import RequestObserver

from ..foundation import Foundation
from ..reports.audit import Audit
from ..reports.health import Health
from ..reports.inventory.inventory import Inventory
from ..reports.overview.overview import Overviews
from ..upkeep.engine.jobs import Jobs
from ..upkeep.engine.worker import Worker
from .access_services import AccessServices
from .collection_services import CollectionServices
from .file_services import FileServices
from .service_time import ServiceTime
from .trash_services import TrashServices


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
