// The sizes of versions: bars that tell which is pinned, suspicious or damaged, and a curve over time.

import { html } from "../../lib/html.js";
import { size } from "../../lib/format.js";
import { Curve } from "../../components/charts.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/collection.js";

const SHOWN = 30;

export function VersionBars({ versions }) {
  const shown = versions.slice(0, SHOWN).reverse();
  const most = Math.max(...shown.map((one) => one.size), 1);
  const kinds = new Set(shown.map(kindOf));
  return html`<section class="card w7">
    <div class="sec">
      <h2>${t.charts.versions}</h2>
      <p class="dim sm">${t.charts.versionsText(shown.length)}</p>
    </div>
    <ol class="bars">
      ${shown.map(
        (one) =>
          html`<${Bar}
            key=${one.number}
            version=${one}
            share=${one.size / most}
            isLast=${one.number === versions[0].number}
          />`,
      )}
    </ol>
    <div class="key">
      ${["kept", "pinned", "failed", "suspicious", "damaged"]
        .filter((kind) => kinds.has(kind))
        .map(
          (kind) =>
            html`<span class=${kind}
              >${
                kind === "kept" ? html`<i></i>` : html`<${Icon} name=${kind === "pinned" ? "pin" : kind} isColoured />`
              }${t.charts.kinds[kind]}</span
            >`,
        )}
    </div>
  </section>`;
}

function kindOf({ damaged, quarantined, suspicious, verdict, pinned }) {
  if (damaged) return "damaged";
  if (verdict === "broken") return "failed";
  return quarantined || suspicious ? "suspicious" : pinned ? "pinned" : "kept";
}

function Bar({ version, share }) {
  const kind = kindOf(version);
  return html`<li class=${kind} title=${t.charts.bar(version.number, size(version.size))}>
    ${kind !== "kept" && html`<${Icon} name=${kind === "pinned" ? "pin" : kind} isColoured />`}
    <i style=${{ height: `${Math.max(1.5, share * 100)}%` }}></i>
    <span>${version.number}</span>
  </li>`;
}

export function SizeCurve({ versions, collection }) {
  const counted = versions.filter((one) => !one.quarantined).toReversed();
  const [first, last] = [counted[0], counted.at(-1)];
  const bounds = boundsOf(collection);
  if (counted.length < 2)
    return html`<section class="card w5">
      <div class="sec"><h2>${t.charts.sizes}</h2></div>
      <p class="empty">${t.charts.tooFew}</p>
    </section>`;
  const times = counted.map((one) => new Date(one.created_at));
  /** @type {CurveLine[]} */
  const lines = [
    { values: counted.map((one) => one.size), isFilled: true },
    { values: counted.map((one) => (one === last ? one.size : null)), isPoint: true },
  ];
  for (const { size: bound, base } of bounds) {
    lines.push({ values: times.map(() => bound), dash: [2, 3], colour: "line2" });
    if (base) lines.push({ values: times.map(() => base), dash: [7, 4], colour: "line2" });
  }
  return html`<section class="card w5">
    <div class="sec"><h2>${t.charts.sizes}</h2></div>
    <${Curve}
      times=${times}
      lines=${lines}
      label=${t.charts.sizesLabel(size(first.size), size(last.size), counted.length)}
    />
    ${bounds.length > 0 && html`<p class="key sm">${bounds.map((one) => one.text).join("; ")}</p>`}
  </section>`;
}

/** The sizes beyond which an upload is suspicious: `{size, base, text}`, of which `base` is what they are a part of. */
function boundsOf({ guards, size_bounds: bounds, newest_good: good }) {
  const { median, largest_median: largest } = bounds;
  const usual = median === null ? { kind: "before", base: good?.size ?? null } : { kind: "median", base: median };
  const found = [];
  if (bounds.least > 0) {
    const decides = largest > usual.base ? { kind: "largest", base: largest } : usual;
    const isMinimum = bounds.least === guards.min_version_size;
    const { kind, base } = isMinimum ? { kind: "minimum", base: 0 } : decides;
    const why = t.charts.bounds[kind](100 - guards.max_shrink_percent, size(base));
    found.push({ size: bounds.least, base, text: t.charts.least(size(bounds.least), why) });
  }
  if (bounds.most !== null) {
    const why = t.charts.bounds[usual.kind](100 + guards.max_growth_percent, size(usual.base));
    found.push({ size: bounds.most, base: usual.base, text: t.charts.most(size(bounds.most), why) });
  }
  return found;
}
