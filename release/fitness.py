"""What is missing until a release can be published."""

from collections.abc import Iterator

from .sources import Sources


def reasons_against(sources: Sources, *, is_complete: bool, is_signed: bool) -> Iterator[str]:
    """Yield a sentence for each reason not to publish what was built."""
    if not sources.publication.repository:
        yield "The packages do not say where frepo comes from, and their pages have no links and no pictures: REPOSITORY_URL=https://..."
    if not sources.publication.maintainer:
        yield "The Debian package names no maintainer who can be reached: MAINTAINER='NAME <ADDRESS>'"
    if not sources.is_tagged:
        yield f"The commit has no tag {sources.tag}, to which the links lead: git tag -s {sources.tag}"
    if f"## {sources.version}, not released yet" in (sources.folder / "CHANGES.md").read_text():
        yield f"CHANGES.md says that {sources.version} is not released yet: write the date"
    if not is_signed:
        yield "SHA256SUMS is not signed: SIGN_KEY=KEY"
    if not is_complete:
        yield "It has some parts of a release only"
