"""Every relative link in a page of the repository leads to a file, and its anchor to a heading."""

import re
from functools import cache

from support.paths import ROOT

PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("examples/*/*.md")]
    + [*ROOT.glob("frepo_*/src/**/*.md")]
)
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def links(page):
    """Return the path and the anchor of each relative link."""
    return re.findall(r"\]\((?!\w+:|/)([^)\s#]*)(?:#([^)\s]*))?\)", CODE.sub("", page.read_text()))


@cache
def anchors(page):
    """Return the anchors of the headings, as GitHub and the site generate them."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    texts = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w -]", "", text).strip().lower().replace(" ", "-") for text in texts}


def test_each_link_has_a_target():
    targets = [(page, page.parent / path if path else page, anchor) for page in PAGES for path, anchor in links(page)]

    assert [] == [(page.name, str(target)) for page, target, _ in targets if not target.exists()]
    anchored = [each for each in targets if each[2]]
    assert [] == [(page.name, f"{to.name}#{name}") for page, to, name in anchored if name not in anchors(to)]


def test_links_are_found():
    assert ("docs/tutorial.md", "") in links(ROOT / "README.md")
    assert ("docs/install.md", "upgrade") in links(ROOT / "CONTRIBUTING.md")
