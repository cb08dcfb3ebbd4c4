"""The services for collections and their versions."""

from dataclasses import dataclass

from ..backups.collections.collection_pages import CollectionPages
from ..backups.collections.collections import Collections
from ..backups.collections.enrolment import Enrolments
from ..backups.collections.token_list import CollectionAccess
from ..backups.preview.preview import Previews
from ..backups.restore import RestoreTests
from ..backups.rotation.strategies import Strategies
from ..backups.versions.add_version import AddVersion
from ..backups.versions.client_checks import ClientChecks
from ..backups.versions.version_checks import VersionChecks
from ..backups.versions.version_edits import VersionEdits
from ..backups.versions.versions import Versions
from ..events.refusals import Refusals
from ..foundation import Foundation
from .access_services import AccessServices
from .file_services import FileServices
from .trash_services import TrashServices


@dataclass(frozen=True, kw_only=True)
class CollectionServices:
    """The services for collections and their versions."""

    collections: Collections
    collection_access: CollectionAccess
    enrolments: Enrolments
    collection_pages: CollectionPages
    previews: Previews
    versions: Versions
    version_edits: VersionEdits
    version_checks: VersionChecks
    client_checks: ClientChecks
    restore_tests: RestoreTests
    add_version: AddVersion
    refusals: Refusals


def build_collections(
    base: Foundation, access: AccessServices, files: FileServices, trash: TrashServices
) -> CollectionServices:
    """Build the services of this theme."""
    database, settings, plugins = base.database, base.settings, base.plugins
    strategies = Strategies(database, plugins)
    collections = Collections(database, settings, strategies, access.passwords)
    collection_access = CollectionAccess(database, collections, access.tokens)
    versions, version_checks = (
        Versions(database, files.blobs, access.passwords, settings.trash_keep),
        VersionChecks(database),
    )
    refusals = Refusals(database, is_read_only=settings.read_only)
    return CollectionServices(
        collections=collections,
        collection_access=collection_access,
        enrolments=Enrolments(database, collections, access.tokens, access.token_changes, collection_access),
        collection_pages=CollectionPages(database),
        previews=Previews(database, settings, strategies),
        versions=versions,
        version_edits=VersionEdits(database, strategies, files.blobs, settings.trash_keep),
        version_checks=version_checks,
        client_checks=ClientChecks(database, plugins.upload_checks),
        restore_tests=RestoreTests(database, settings, versions, files.downloads, version_checks, base.mask),
        add_version=AddVersion(
            database,
            settings,
            strategies,
            files.ingest,
            files.blobs,
            files.upload_checks,
            refusals,
            trash.arrivals,
        ),
        refusals=refusals,
    )
