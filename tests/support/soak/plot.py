"""Draws a soak as SVG: one panel for each measure, below each other, with a common time axis."""

from collections.abc import Iterable
from html import escape

from support.soak.samples import MEASURES, Sample, quarters

WIDTH, PANEL, LEFT, TOP = 900, 130, 70, 60
STYLE = (
    "text{font:13px sans-serif;fill:#333} .title{font-weight:bold} path{fill:none;stroke:#2266aa;stroke-width:1.2}"
    " line{stroke:#bbb} .frame{fill:#fafafa;stroke:#ccc}"
)


def draw(samples: list[Sample], title: str) -> str:
    """Return the SVG as text."""
    height = TOP + len(MEASURES) * (PANEL + 30) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + LEFT + 40}" height="{height}">',
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
    ]
    for index, (measure, (unit, _)) in enumerate(MEASURES.items()):
        parts += _panel(samples, measure, unit, TOP + index * (PANEL + 30))
    return "\n".join([*parts, "</svg>", ""])


def _panel(samples: list[Sample], measure: str, unit: str, top: int) -> Iterable[str]:
    values = [getattr(sample, measure) for sample in samples]
    end, ceiling = samples[-1].seconds or 1, (max(values) or 1) * 1.15
    points = " ".join(
        f"{LEFT + WIDTH * sample.seconds / end:.1f},{top + PANEL * (1 - value / ceiling):.1f}"
        for sample, value in zip(samples, values, strict=True)
    )
    before, after = quarters(samples, measure)
    what = "least" if measure == "disk" else "median"
    title = f"{measure} {f'({unit})' if unit else ''}"
    label = f"{title}: {what} of the second quarter {before:.0f}, of the last {after:.0f}"
    yield f'<rect class="frame" x="{LEFT}" y="{top}" width="{WIDTH}" height="{PANEL}"/>'
    yield f'<text x="{LEFT}" y="{top - 6}">{label}</text>'
    for share in (0, 0.5, 1):
        y = top + PANEL * (1 - share)
        yield f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{ceiling * share:.0f}</text>'
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = LEFT + WIDTH * share
        yield f'<text x="{x}" y="{top + PANEL + 15}" text-anchor="middle">{end * share / 60:.1f} min</text>'
    yield f'<path d="M {points}"/>'
