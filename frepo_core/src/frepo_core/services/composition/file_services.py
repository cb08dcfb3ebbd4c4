"""The services for tokens, contents, files, and the trash, which makes room for them."""

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from frepo_core.domain.structs import struct

from ..foundation import Foundation
from .features import Feature

if TYPE_CHECKING:
    from ..access.passwords import Passwords
    from ..access.policies.policies import Policies
    from ..access.protected_urls import ProtectedUrls
    from ..access.rotation.self_rotation import SelfRotation
    from ..access.signed_links import SignedLinks
    from ..access.token_changes import TokenChanges
    from ..access.token_inventory import TokenInventory
    from ..access.token_last_use import TokenUses
    from ..access.tokens import Tokens
    from ..backups.trash.arrivals import Arrivals
    from ..backups.trash.early_ending import EarlyEnding
    from ..backups.trash.trash import Trash
    from ..content.blobs.lifecycle import Blobs
    from ..content.blobs.object_reads import ObjectReads
    from ..content.blobs.stored_content import StoredContent
    from ..content.chains.chain_reader import ChainReader
    from ..content.checks.followers import Followers
    from ..content.checks.upload_checks import UploadChecks
    from ..content.copies import Copies
    from ..content.exports import Exports
    from ..content.ingest import Ingest
    from ..content.remote.fetcher import Fetcher
    from ..content.storages.storage_space import StorageSpace
    from ..events.downloads import DownloadEvents
    from ..files.aliases import Aliases
    from ..files.downloads import Downloads
    from ..files.file_edits import FileEdits
    from ..files.files import Files
    from ..files.listing import Listing

F = TypeVar("F")


@struct
class FileServices(Foundation):
    """The services for tokens, contents, files, and the trash, which makes room for them.

    Each service of the container is imported and built when it is used first. `features` are those that bring services
    of their own, or answer for a port.
    """

    features: tuple[Feature, ...] = ()
    _of_features: dict[type[Any], Any] = field(default_factory=dict, init=False, repr=False)

    def feature(self, kind: type[F]) -> F:
        """Return the services of a feature by their class. Raises `LookupError` if it was not handed over."""
        if kind not in self._of_features:
            if kind not in {feature.services for feature in self.features}:
                raise LookupError(f"This service was made without the feature of {kind.__name__}")
            make: Callable[[FileServices], F] = kind
            self._of_features[kind] = make(self)
        found: F = self._of_features[kind]
        return found

    @cached_property
    def passwords(self) -> "Passwords":
        from ..access.passwords import Passwords

        return Passwords(self.settings)

    @cached_property
    def policies(self) -> "Policies":
        from ..access.policies.policies import Policies

        return Policies(self.database, self.plugins, self.contexts)

    @cached_property
    def links(self) -> "SignedLinks":
        from ..access.signed_links import SignedLinks

        return SignedLinks(self.settings)

    @cached_property
    def protected_urls(self) -> "ProtectedUrls":
        from ..access.protected_urls import ProtectedUrls

        return ProtectedUrls(self.settings)

    @cached_property
    def token_uses(self) -> "TokenUses":
        from ..access.token_last_use import TokenUses

        return TokenUses(self.database, is_read_only=self.settings.read_only)

    @cached_property
    def tokens(self) -> "Tokens":
        from ..access.tokens import Tokens

        return Tokens(self.database, self.settings, self.token_uses)

    @cached_property
    def token_inventory(self) -> "TokenInventory":
        from ..access.token_inventory import TokenInventory

        return TokenInventory(self.database, self.settings)

    @cached_property
    def token_changes(self) -> "TokenChanges":
        from ..access.token_changes import TokenChanges

        return TokenChanges(self.database, self.settings, self.token_inventory)

    @cached_property
    def self_rotation(self) -> "SelfRotation":
        from ..access.rotation.self_rotation import SelfRotation

        return SelfRotation(self.database, self.settings, self.token_inventory)

    @cached_property
    def ingest(self) -> "Ingest":
        from ..content.ingest import Ingest

        return Ingest(self.settings.temp_directory)

    @cached_property
    def exports(self) -> "Exports":
        from ..content.exports import Exports

        return Exports(self.ingest)

    @cached_property
    def fetcher(self) -> "Fetcher":
        from ..content.remote.fetcher import Fetcher

        return Fetcher(self.settings)

    @cached_property
    def upload_checks(self) -> "UploadChecks":
        from ..content.checks.upload_checks import UploadChecks

        return UploadChecks(self.plugins, self.contexts, self.settings, self.content_followers)

    @cached_property
    def content_followers(self) -> "Followers":
        from ..content.checks.followers import Followers

        return Followers(self.plugins, self.contexts)

    @cached_property
    def copies(self) -> "Copies":
        from ..content.copies import Copies

        made = [feature.copies(self) for feature in self.features if feature.copies]
        return made[0] if made else Copies()

    @cached_property
    def blobs(self) -> "Blobs":
        from ..content.blobs.lifecycle import Blobs

        return Blobs(
            self.database,
            self.backends,
            self.presence,
            self.storage_states,
            self.ingest.held,
            self.copies,
            self.settings.mirror_delete_delay,
        )

    @cached_property
    def chain_reader(self) -> "ChainReader":
        from ..content.chains.chain_reader import ChainReader

        return ChainReader(self.database, self.backends, self.ingest)

    @cached_property
    def stored_content(self) -> "StoredContent":
        from ..content.blobs.stored_content import StoredContent

        return StoredContent(
            self.database,
            self.backends,
            self.presence,
            self.chain_reader,
            self.settings.fs_cache_size,
            self.object_reads,
        )

    @cached_property
    def object_reads(self) -> "ObjectReads":
        from ..content.blobs.object_reads import ObjectReads

        return ObjectReads(self.database, self.backends, self.chain_reader, self.copies.fallbacks)

    @cached_property
    def storage_space(self) -> "StorageSpace":
        from ..content.storages.storage_space import StorageSpace

        return StorageSpace(self.backends, self.presence, self.settings)

    @cached_property
    def trash(self) -> "Trash":
        from ..backups.trash.trash import Trash

        return Trash(self.database, self.blobs, self.policies, self.settings.trash_keep)

    @cached_property
    def early_ending(self) -> "EarlyEnding":
        from ..backups.trash.early_ending import EarlyEnding

        return EarlyEnding(self.database, self.blobs, self.storage_space, self.ingest.held)

    @cached_property
    def arrivals(self) -> "Arrivals":
        from ..backups.trash.arrivals import Arrivals
        from ..backups.trash.room_leases import RoomLeases

        return Arrivals(self.database, self.early_ending, self.storage_space, RoomLeases(self.database))

    @cached_property
    def files(self) -> "Files":
        from ..files.files import Files

        return Files(self.database, self.ingest, self.blobs, self.passwords, self.upload_checks, self.arrivals)

    @cached_property
    def file_edits(self) -> "FileEdits":
        from ..files.file_edits import FileEdits

        return FileEdits(self.database, self.files, self.passwords)

    @cached_property
    def downloads(self) -> "Downloads":
        from ..files.downloads import Downloads

        return Downloads(
            self.database,
            self.settings,
            self.files,
            self.backends,
            self.stored_content,
            self.passwords,
            self.links,
            self.policies,
            self.written_aliases,
        )

    @cached_property
    def download_events(self) -> "DownloadEvents":
        from ..events.downloads import DownloadEvents

        return DownloadEvents(self.database, self.settings)

    @cached_property
    def written_aliases(self) -> "Aliases":
        from ..files.aliases import Aliases

        return Aliases(self.settings.ids_mapping_file)

    @cached_property
    def listing(self) -> "Listing":
        from ..files.listing import Listing

        return Listing(self.database, self.passwords)
