"""The services that store contents and files."""

from dataclasses import dataclass

from ..content.blobs.lifecycle import Blobs
from ..content.checks.upload_checks import UploadChecks
from ..content.exports import Exports
from ..content.ingest import Ingest
from ..content.remote.fetcher import Fetcher
from ..events.downloads import DownloadEvents
from ..files.aliases import Aliases
from ..files.downloads import Downloads
from ..files.file_edits import FileEdits
from ..files.files import Files
from ..files.listing import Listing
from ..files.stored_aliases import StoredAliases
from ..foundation import Foundation
from .access_services import AccessServices


@dataclass(frozen=True, kw_only=True)
class FileServices:
    """The services that store contents and files."""

    ingest: Ingest
    exports: Exports
    blobs: Blobs
    upload_checks: UploadChecks
    files: Files
    file_edits: FileEdits
    downloads: Downloads
    download_events: DownloadEvents
    aliases: StoredAliases
    listing: Listing
    fetcher: Fetcher


def build_files(base: Foundation, access: AccessServices) -> FileServices:
    """Build the services of this theme."""
    database, settings, passwords = base.database, base.settings, access.passwords
    ingest = Ingest(settings.temp_directory)
    blobs = Blobs(database, base.backends, base.presence, base.storage_states, ingest.held)
    checks = UploadChecks(base.plugins, base.contexts)
    files = Files(database, ingest, blobs, passwords, checks)
    from_file = Aliases(settings.ids_mapping_file)
    aliases = StoredAliases(database, from_file)
    return FileServices(
        ingest=ingest,
        exports=Exports(ingest),
        blobs=blobs,
        upload_checks=checks,
        files=files,
        file_edits=FileEdits(database, files, passwords),
        downloads=Downloads(
            database, settings, files, base.backends, base.presence, passwords, access.links, from_file, aliases
        ),
        download_events=DownloadEvents(database, settings),
        aliases=aliases,
        listing=Listing(database, passwords),
        fetcher=Fetcher(settings),
    )
