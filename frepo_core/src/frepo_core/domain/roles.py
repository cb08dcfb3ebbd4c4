"""The roles that a token can have. Three of them restrict, all others grant."""

from enum import StrEnum
from typing import Self


class Role(StrEnum):
    """A role. Its value is the public name; `description` says what it allows."""

    description: str

    def __new__(cls, name: str, description: str) -> Self:
        """Create a member from its public name and its description."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.description = description
        return member

    UPLOAD_IMAGES = "upload.images", "Upload images"
    UPLOAD_VIDEOS = "upload.videos", "Upload videos"
    UPLOAD_DOCUMENTS = "upload.documents", "Upload documents"
    UPLOAD_BACKUP = "upload.backup", "Upload archives, dumps and other formats of backups"
    UPLOAD_ALL = "upload.all", "Upload files of every type"
    UPLOAD_NO_PASSWORD = "upload.enforce_no_password", "Restriction: uploads cannot have a password"
    UPLOAD_TOKEN_TAGS = "upload.enforce_tags_selected_in_token", "Restriction: uploads get exactly the token's tags"
    UPLOAD_ONCE = "upload.only_once_successful", "Restriction: the token ends with its first successful upload"

    LOOKUP_TOKENS = "security.authentication_lookup", "Look up what any token is allowed to do"
    OVERWRITE = "security.overwrite", "Replace tags, visibility and password of a file by uploading it again"
    GENERATE_TOKENS = "security.generate_tokens", "Generate tokens with any roles"
    USE_TECHNICAL = "security.use_technical_endpoints", "Use the technical endpoints"
    REVOKE_TOKENS = "security.revoke_tokens", "Revoke tokens"
    ADMINISTRATOR = "security.administrator", "Everything that roles grant; only an administrator revokes such a token"
    LIST_TOKENS = "security.list_tokens", "List tokens, and see when and from where each was used last"
    CHOOSE_TOKEN_IDS = "security.create_predictable_token_ids", "Choose the id of a token that is generated"

    DELETE_ALL_FILES = (
        "deletion.all_files_including_protected_and_unprotected",
        "Delete any file, with or without a password, without giving it",
    )

    VIEW_ANY_FILE = "view.any_file", "Download any file, protected ones and versions included"
    VIEW_ALL_TAGS = "view.files_from_all_tags", "See listed files of all tags unmasked"
    VIEW_LISTING = "view.can_use_listing_endpoint_at_all", "List files"

    VIEW_EVENTS = "events.view", "See what has happened, and export it: events about collections that the token may see"

    MANAGE_ALIASES = "aliases.manage", "List, make, change and delete aliases"

    VIEW_JOBS = "jobs.view", "See the jobs and what they found"
    RUN_JOBS = "jobs.run", "Run jobs now"

    VIEW_METRICS = "metrics.view", "Read the metrics, the overview and the growth of the service"

    VIEW_SETTINGS = (
        "settings.view",
        "See the settings in force, with secrets masked, the installed plug-ins and the storages",
    )

    CREATE_COLLECTIONS = "collections.create_new", "Create collections"
    CHOOSE_COLLECTION_IDS = "collections.create_new.with_custom_id", "Choose the id of a collection that is created"
    INFINITE_LIMITS = "collections.allow_infinite_limits", "Switch limits of collections off"
    DELETE_COLLECTIONS = "collections.delete_allowed_collections", "Delete collections that list the token"
    MODIFY_ANY_COLLECTION = (
        "collections.modify_any_collection_regardless_if_token_was_allowed_by_collection",
        "Work on every collection as if it listed the token; edit and delete it",
    )
    MODIFY_COLLECTIONS = "collections.modify_details_of_allowed_collections", "Edit collections that list the token"
    VIEW_ALL_COLLECTIONS = "collections.view_all_collections", "See every collection"
    LIST_COLLECTIONS = "collections.can_use_listing_endpoint", "List collections"
    MANAGE_COLLECTION_TOKENS = (
        "collections.manage_tokens_in_allowed_collections",
        "Add tokens to, and take them off, collections that list the token",
    )
    UPLOAD_VERSIONS = "collections.upload_to_allowed_collections", "Upload versions to collections that list the token"
    LIST_VERSIONS = (
        "collections.list_versions_for_allowed_collections",
        "List and download versions in collections that list the token",
    )
    LOCK_VERSIONS = (
        "collections.lock_versions_in_allowed_collections",
        "Lock the versions of collections that list the token, for a time that can be extended, never shortened",
    )
    HOLD_COLLECTIONS = (
        "collections.hold_allowed_collections",
        "Put collections that list the token on hold: nothing leaves them until somebody ends the hold",
    )
    END_HOLDS = (
        "collections.end_holds_of_allowed_collections",
        "End the holds of collections that list the token",
    )
    PIN_VERSIONS = (
        "collections.pin_versions_in_allowed_collections",
        "Pin versions, write notes, and release versions from quarantine, in collections that list the token",
    )
    DELETE_VERSIONS = (
        "collections.delete_versions_for_allowed_collections",
        "Delete versions in collections that list the token",
    )
    RESTORE_FROM_TRASH = (
        "collections.restore_from_trash_in_allowed_collections",
        "See and restore what is in the trash of collections that list the token",
    )


RESTRICTIONS = frozenset({Role.UPLOAD_NO_PASSWORD, Role.UPLOAD_TOKEN_TAGS, Role.UPLOAD_ONCE})
GRANTS = frozenset(Role) - RESTRICTIONS
UPLOADS = frozenset(
    {Role.UPLOAD_IMAGES, Role.UPLOAD_VIDEOS, Role.UPLOAD_DOCUMENTS, Role.UPLOAD_BACKUP, Role.UPLOAD_ALL}
)
