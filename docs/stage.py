"""Copy the documentation into one folder for the site generator.

Pages link to files outside `docs/`, such as CHANGES.md or deploy/nginx.conf. In the repository these links work as they
are; the site generator sees only its own folder. So each linked file is copied, too, and the links are adapted.
"""

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
AROUND = ("README.md", "CHANGES.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in AROUND)]
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")


def staged_path(path: Path) -> Path:
    """Return where a file of the repository is in the staging folder."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS)
    # The generator takes a README.md for the index of its folder; ours is index.md.
    return Path("overview.md") if path == ROOT / "README.md" else path.relative_to(ROOT)


def stage(target: Path) -> None:
    """Copy all pages, and the files that they link to, into the target folder. Raises SystemExit for a broken link."""
    shutil.rmtree(target, ignore_errors=True)
    left, done = list(PAGES), set[Path]()
    while left:
        page = left.pop()
        if page in done:
            continue
        done.add(page)
        copy = target / staged_path(page)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            text, linked = adapt(page)
            copy.write_text(text)
            left += linked
        else:
            shutil.copy(page, copy)


def adapt(page: Path) -> tuple[str, list[Path]]:
    """Return the text of a page with its links adapted, and the files that it links to."""
    linked: list[Path] = []

    def replace(found: re.Match[str]) -> str:
        if ":" in found[1]:
            return found[0]
        path = (page.parent / found[1]).resolve()
        path = path / "README.md" if path.is_dir() else path
        if not path.is_file():
            sys.exit(f"{page.relative_to(ROOT)} links to {found[1]}, which is not a file or has no README.md")
        linked.append(path)
        return Path(os.path.relpath(staged_path(path), staged_path(page).parent)).as_posix() + (found[2] or "")

    parts = CODE.split(page.read_text(encoding="utf-8"))  # every second part is code
    return "".join(part if number % 2 else LINK.sub(replace, part) for number, part in enumerate(parts)), linked


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
