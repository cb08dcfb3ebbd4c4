"""The models of a plain file: its answer, its patch, and the parameters of an upload and of the list."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from frepo_core.services.base.records import FileRecord
from frepo_core.services.base.records.file_records import CopyCount
from frepo_core.services.files.file_edits import FileChange

from ...conventions.entity_tags import entity_tag
from ...conventions.merge_patch import Patch, unset
from ...conventions.paging import PageQuery, PageReply
from ...conventions.types import FileName, Time, Whole
from ...schemas import json_schemas
from ...schemas.models import CopyCounts, Flag, Password, Query, Reply, Tag


# TypeScript has a type File, which generated clients would use instead.
class StoredFile(Reply):
    """A plain file. `name` is the stored name, which paths use; `requested_name` is the one that was sent.

    `copies` is how many sound copies the content has and should have, null if it has one only and shall have no other.
    """

    name: str
    requested_name: str
    created_at: Time
    size: Whole
    sha256: str = Field(pattern=json_schemas.SHA256)
    mime_type: str
    tags: list[str]
    public: bool
    password_protected: bool
    damaged: bool
    copies: CopyCounts | None

    @classmethod
    def of(cls, record: FileRecord, counts: Mapping[int, CopyCount] = MappingProxyType({})) -> "StoredFile":
        """Convert a file. `counts` are how many copies blobs have, by their ids."""
        return cls(
            name=record.stored_name,
            requested_name=record.requested_name,
            created_at=record.created_at,
            size=record.blob.size,
            sha256=record.blob.digest,
            mime_type=record.blob.mime,
            tags=list(record.tags),
            public=record.public,
            password_protected=record.password_hash is not None,
            damaged=record.blob.is_damaged,
            copies=CopyCounts.of(record.blob, counts),
        )


class FilePage(PageReply[StoredFile]):
    """A page of files. It may be shorter than `limit`; `next` is null on the last one."""


class FileQuery(PageQuery):
    """Which files, newest first. Those that the token may not see in full are left out."""

    q: str = Field("", max_length=255, description="Part of the name, in any case.")
    tag: list[str] = Field([], max_length=100, description="Files with this tag; several: with one of them.")
    mime_type: list[str] = Field([], max_length=100, description="Files of this type; several: of one of them.")


class UploadQuery(Query):
    """The name of a new file, and what applies to it. The password is in the header X-File-Password."""

    name: FileName | None = Field(None, description="The file's name; by default that of the form's part.")
    tag: list[Tag] = Field([], max_length=100, description="A tag of the file; the parameter may be repeated.")
    public: Flag = Field(False, description="Whether lists show the file. Downloads do not depend on it.")


class FilePatch(Patch):
    """What can be changed of a file. `tags` are replaced as a whole; a null password removes it.

    A new `name` is that of an upload: the answer has the stored name that follows from it, which is the new address.
    The file is not found under the old one any more. Aliases that are not in the YAML file follow.
    """

    name: FileName = unset()
    tags: list[Tag] = Field(default_factory=list, max_length=100)
    public: Annotated[bool, Field(strict=True)] = unset()
    password: Password | None = unset()

    def change(self) -> FileChange:
        """Convert the patch for the service."""
        sent = self.changes()
        password = (sent["password"] or "") if "password" in sent else None
        return FileChange(name=sent.get("name"), tags=sent.get("tags"), public=sent.get("public"), password=password)


def file_tag(record: FileRecord) -> str:
    """Return the ETag of a file."""
    return entity_tag(StoredFile.of(record), FilePatch, record.password_hash)
