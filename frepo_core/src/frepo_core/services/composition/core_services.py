"""The services for collections and their versions, for recovery, and reports about them."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from frepo_core.domain.structs import struct
from frepo_core.plugins import RequestObserver

from .file_services import FileServices

if TYPE_CHECKING:
    from ..access.rotation.fleet_rotation import FleetRotation
    from ..backups.collections.collection_pages import CollectionPages
    from ..backups.collections.collection_states import CollectionStates
    from ..backups.collections.collection_with_token import CollectionsWithTokens
    from ..backups.collections.collections import Collections
    from ..backups.collections.token_list import TokenLists
    from ..backups.holds.holds import Holds
    from ..backups.holds.pins import Pins
    from ..backups.holds.retention import Retention
    from ..backups.rotation.strategies import Strategies
    from ..backups.runs.reported_uploads import ReportedUploads
    from ..backups.runs.run_records import Runs
    from ..backups.runs.run_reports import RunReports
    from ..backups.same_content import SameContents
    from ..backups.trash.contents import TrashContents
    from ..backups.trash.deleted_collections import DeletedCollections
    from ..backups.versions.add_version import AddVersion
    from ..backups.versions.announced_versions import AnnouncedVersions
    from ..backups.versions.check_attempts import CheckAttempts
    from ..backups.versions.client_checks import ClientChecks
    from ..backups.versions.late_results import LateResults
    from ..backups.versions.unjudged import UnjudgedVersions
    from ..backups.versions.version_checks import VersionChecks
    from ..backups.versions.version_edits import VersionEdits
    from ..backups.versions.versions import Versions
    from ..base.plugin_rows import RowCopies
    from ..events.refusals import Refusals
    from ..reports.audit import Audit
    from ..reports.figures import Figures
    from ..reports.health import Health
    from ..reports.restore_ages import RestoreAges


@struct
class CoreServices(FileServices):
    """The services that plug-ins and the built-in jobs use. `request_observers` are called after each request."""

    request_observers: list[RequestObserver] = field(default_factory=list)

    @cached_property
    def strategies(self) -> "Strategies":
        from ..backups.rotation.strategies import Strategies

        return Strategies(self.database, self.plugins)

    @cached_property
    def collections(self) -> "Collections":
        from ..backups.collections.collections import Collections
        from ..content.storages.storage_choice import StorageChoice

        storages = StorageChoice(self.backends)
        return Collections(
            self.database, self.settings, self.strategies, self.passwords, self.policies, storages, self.copies
        )

    @cached_property
    def token_lists(self) -> "TokenLists":
        from ..backups.collections.token_list import TokenLists

        return TokenLists(self.database, self.tokens)

    @cached_property
    def collections_with_tokens(self) -> "CollectionsWithTokens":
        from ..backups.collections.collection_with_token import CollectionsWithTokens

        return CollectionsWithTokens(self.collections, self.tokens, self.token_changes, self.token_lists)

    @cached_property
    def fleet_rotation(self) -> "FleetRotation":
        from ..access.rotation.fleet_rotation import FleetRotation

        return FleetRotation(self.database, self.settings, self.token_changes)

    @cached_property
    def row_copies(self) -> "Mapping[str, RowCopies]":
        from ..base.plugin_rows import RowCopies
        from .startup import schemas_of

        return {schema.plugin: RowCopies(schema) for schema in schemas_of(self.plugins) if schema.is_recovered}

    @cached_property
    def collection_states(self) -> "CollectionStates":
        from ..backups.collections.collection_states import CollectionStates

        return CollectionStates(self.database)

    @cached_property
    def collection_pages(self) -> "CollectionPages":
        from ..backups.collections.collection_pages import CollectionPages

        return CollectionPages(self.database)

    @cached_property
    def figures(self) -> "Sequence[Figures]":
        return [feature.figures(self) for feature in self.features]

    @cached_property
    def versions(self) -> "Versions":
        from ..backups.versions.versions import Versions

        return Versions(self.database, self.blobs, self.passwords, self.policies, self.settings.trash_keep)

    @cached_property
    def same_contents(self) -> "SameContents":
        from ..backups.same_content import SameContents

        return SameContents(self.database)

    @cached_property
    def version_edits(self) -> "VersionEdits":
        from ..backups.versions.version_edits import VersionEdits

        return VersionEdits(self.database, self.strategies, self.blobs, self.settings.trash_keep)

    @cached_property
    def retention(self) -> "Retention":
        from ..backups.holds.retention import Retention

        return Retention(self.database, self.backends)

    @cached_property
    def holds(self) -> "Holds":
        from ..backups.holds.holds import Holds

        return Holds(self.database, self.settings.trash_keep)

    @cached_property
    def pins(self) -> "Pins":
        from ..backups.holds.pins import Pins

        return Pins(self.database)

    @cached_property
    def version_checks(self) -> "VersionChecks":
        from ..backups.versions.version_checks import VersionChecks

        return VersionChecks(self.database)

    @cached_property
    def late_results(self) -> "LateResults":
        from ..backups.versions.late_results import LateResults

        return LateResults(self.database, self.settings, self.strategies, self.blobs)

    @cached_property
    def check_attempts(self) -> "CheckAttempts":
        from ..backups.versions.check_attempts import CheckAttempts

        return CheckAttempts(self.database, self.late_results)

    @cached_property
    def unjudged_versions(self) -> "UnjudgedVersions":
        from ..backups.versions.unjudged import UnjudgedVersions

        settings = self.settings
        return UnjudgedVersions(
            self.database, self.strategies, self.blobs, patience=settings.checks_patience, keep=settings.trash_keep
        )

    @cached_property
    def client_checks(self) -> "ClientChecks":
        from ..backups.versions.client_checks import ClientChecks

        return ClientChecks(self.database, self.plugins.upload_checks)

    @cached_property
    def runs(self) -> "Runs":
        from ..backups.runs.run_records import Runs

        return Runs(self.database)

    @cached_property
    def run_reports(self) -> "RunReports":
        from ..backups.runs.run_reports import RunReports

        return RunReports(self.database, self.mask, self.late_results)

    @cached_property
    def refusals(self) -> "Refusals":
        from ..events.refusals import Refusals

        return Refusals(self.database, is_read_only=self.settings.read_only)

    @cached_property
    def add_version(self) -> "AddVersion":
        from ..backups.versions.add_version import AddVersion

        return AddVersion(
            self.database,
            self.settings,
            self.strategies,
            self.ingest,
            self.blobs,
            self.upload_checks,
            self.refusals,
            self.arrivals,
            self.policies,
            self.retention,
        )

    @cached_property
    def announced_versions(self) -> "AnnouncedVersions":
        from ..backups.versions.announced_versions import AnnouncedVersions

        return AnnouncedVersions(self.add_version, self.refusals, self.arrivals)

    @cached_property
    def reported_uploads(self) -> "ReportedUploads":
        from ..backups.runs.reported_uploads import ReportedUploads

        return ReportedUploads(self.add_version, self.run_reports, self.settings)

    @cached_property
    def deleted_collections(self) -> "DeletedCollections":
        from ..backups.trash.deleted_collections import DeletedCollections

        return DeletedCollections(self.database, self.blobs, self.policies)

    @cached_property
    def trash_contents(self) -> "TrashContents":
        from ..backups.trash.contents import TrashContents

        return TrashContents(
            self.database, self.stored_content, self.passwords, self.policies, self.deleted_collections
        )

    @cached_property
    def restore_ages(self) -> "RestoreAges":
        from ..reports.restore_ages import RestoreAges

        return RestoreAges(self.database, self.settings)

    @cached_property
    def audit(self) -> "Audit":
        from ..reports.audit import Audit

        return Audit(self.database)

    @cached_property
    def health(self) -> "Health":
        from ..reports.health import Health

        return Health(self, self.figures)
