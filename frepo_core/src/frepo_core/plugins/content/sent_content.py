"""What a client has sent."""

from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True, kw_only=True)
class SentContent:
    """The content of a request, which `frepo_core.web.sent_content` makes. Give it to `add_version` or `upload_file`.

    `file` is at its start, and can be read again. `size` is in bytes, None if the client did not say it. `sha256` and
    `md5` are the digests that the client says, in hex: other content is refused.
    """

    file: BinaryIO
    size: int | None = None
    sha256: tuple[str, ...] = ()
    md5: str | None = None
