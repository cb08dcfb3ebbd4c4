"""What a release says of where it is published: the repository and its maintainer, given to `make release`."""

import posixpath
import re
from dataclasses import dataclass
from email.utils import parseaddr
from pathlib import Path

# The forms of GitHub; another forge may need others.
PAGE = "{repository}/blob/{tag}/{path}"
PICTURE = "{repository}/raw/{tag}/{path}"
NO_ADDRESS = "the frepo contributors <frepo@packages.invalid>"
AUTHORS = "the frepo contributors"
# What looks like a link in code is none; code in the text of a link is part of the link.
LINK = re.compile(
    r"(?P<code>^```.*?^```$|`[^`\n]+`)"
    r"|(?P<picture>!?)\[(?P<text>(?:`[^`]*`|[^\[\]`])*)\]\((?!\w+:)(?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Publication:
    """The address of the repository, such as https://forge.example.org/frepo, and `NAME <ADDRESS>`; empty: unknown."""

    repository: str = ""
    maintainer: str = ""

    def __post_init__(self) -> None:
        if self.repository and not re.fullmatch(r"https://[^\s/]+/\S*[^\s/]", self.repository):
            raise ValueError(
                f"The address of the repository is {self.repository!r}: it begins with https:// and has a path, "
                "without a slash at its end"
            )
        if self.maintainer and not re.fullmatch(r'[^<>"\\\n]+ <[^<>@\s]+@[^<>@\s]+>', self.maintainer):
            raise ValueError(f"The maintainer is {self.maintainer!r}: write a name and an address, as NAME <ADDRESS>")

    @property
    def reachable(self) -> str:
        """The maintainer, as a Debian package has to name one."""
        return self.maintainer or NO_ADDRESS

    def urls(self, tag: str) -> dict[str, str]:
        """Return the addresses that a package index shows next to a package, by their labels."""
        if not self.repository:
            return {}
        return {
            "Homepage": self.repository,
            "Documentation": PAGE.format(repository=self.repository, tag=tag, path="docs/index.md"),
            "Changelog": PAGE.format(repository=self.repository, tag=tag, path="CHANGES.md"),
        }

    def write(self, folder: Path, tag: str) -> None:
        """Write it into the metadata and the pages of all distributions below the folder."""
        for page in [folder / "README.md", *sorted(folder.glob("frepo_*/README.md"))]:
            page.write_text(self.away_from(page.read_text(), page.relative_to(folder), tag))
        self._write_setup(folder / "setup.cfg", tag)
        for project in sorted(folder.glob("frepo_*/pyproject.toml")):
            self._write_project(project, tag)

    def away_from(self, text: str, page: Path, tag: str) -> str:
        """Return a page with links and pictures that work everywhere; without an address, it has none."""

        def replaced(found: re.Match[str]) -> str:
            if found["code"]:
                return found[0]
            if not self.repository:
                return "" if found["picture"] else found["text"]
            path, _, anchor = found["target"].partition("#")
            path = posixpath.normpath(posixpath.join(page.parent, path)) if path else str(page)
            form = PICTURE if found["picture"] else PAGE
            address = form.format(repository=self.repository, tag=tag, path=path)
            return f"{found['picture']}[{found['text']}]({address}{anchor and '#'}{anchor})"

        return LINK.sub(replaced, text)

    def _write_setup(self, path: Path, tag: str) -> None:
        lines = [f"author = {AUTHORS}"]
        if self.maintainer:
            name, address = parseaddr(self.maintainer)
            lines += [f"maintainer = {name}", f"maintainer_email = {address}"]
        if self.repository:
            lines += ["project_urls =", *(f"    {label} = {url}" for label, url in self.urls(tag).items())]
        path.write_text(_with(path.read_text(), f"author = {AUTHORS}", "\n".join(lines)))

    def _write_project(self, path: Path, tag: str) -> None:
        authors = f'authors = [{{ name = "{AUTHORS}" }}]'
        text = path.read_text()
        if self.maintainer:
            name, address = parseaddr(self.maintainer)
            text = _with(text, authors, f'{authors}\nmaintainers = [{{ name = "{name}", email = "{address}" }}]')
        if self.repository:
            urls = [f'{label} = "{url}"\n' for label, url in self.urls(tag).items()]
            text = f"{text.rstrip()}\n\n[project.urls]\n{''.join(urls)}"
        path.write_text(text)


UNKNOWN = Publication()


def _with(text: str, line: str, replacement: str) -> str:
    """Replace a line of metadata, which has to be there."""
    assert f"\n{line}\n" in text, line
    return text.replace(f"\n{line}\n", f"\n{replacement}\n")
