// The sizes of versions as bars that tell which is pinned, suspicious or damaged, and below which size an upload is
// suspicious.

import { html } from "../../../lib/html.js";
import { size } from "../../../lib/format.js";
import { Icon } from "../../../components/icons.js";
import { t } from "../../../texts/collection.js";

const SHOWN = 60;
const ICONS = { pinned: "pinned" };

export function SizeChart({ versions, collection }) {
  const shown = versions.slice(0, SHOWN).reverse();
  const most = Math.max(...shown.map((one) => one.size), 1);
  const kinds = new Set(shown.map(kindOf));
  const bounds = boundsOf(collection);
  const lines = bounds.map((one) => one.size / most).filter((part) => part < 1);
  return html`<section class="card">
    <div class="sec">
      <h2>${t.charts.sizes}</h2>
      <p class="dim sm">${t.charts.versionsText(shown.length)}</p>
    </div>
    <ol class="bars">
      ${shown.map((one) => html`<${Bar} key=${one.number} version=${one} share=${one.size / most} lines=${lines} />`)}
    </ol>
    <div class="key">
      ${["kept", "pinned", "failed", "suspicious", "damaged"]
        .filter((kind) => kinds.has(kind))
        .map(
          (kind) =>
            html`<span class=${kind}
              >${kind === "kept" ? html`<i></i>` : html`<${Icon} name=${ICONS[kind] ?? kind} isColoured />`}${
                t.charts.kinds[kind]
              }</span
            >`,
        )}
      ${bounds.length > 0 && html`<span class="bounds">${bounds.map((one) => one.text).join("; ")}</span>`}
    </div>
  </section>`;
}

function kindOf({ damaged, quarantined, suspicious, verdict, pinned }) {
  if (damaged) return "damaged";
  if (verdict === "broken") return "failed";
  return quarantined || suspicious ? "suspicious" : pinned ? "pinned" : "kept";
}

function Bar({ version, share, lines }) {
  const kind = kindOf(version);
  return html`<li class=${kind} title=${t.charts.bar(version.number, size(version.size))}>
    ${kind !== "kept" && html`<${Icon} name=${ICONS[kind] ?? kind} isColoured />`}
    <i style=${{ height: `${Math.max(1.5, share * 100)}%` }}></i>
    ${lines.map((part) => html`<hr style=${{ height: `${part * 100}%` }} />`)}
    <span>${version.number}</span>
  </li>`;
}

/** The sizes beyond which an upload is suspicious, each with its reason. */
function boundsOf({ guards, size_bounds: bounds, newest_good: good }) {
  const { median, largest_median: largest } = bounds;
  const usual = median === null ? { kind: "before", base: good?.size ?? null } : { kind: "median", base: median };
  const found = [];
  if (bounds.least > 0) {
    const decides = largest > usual.base ? { kind: "largest", base: largest } : usual;
    const isMinimum = bounds.least === guards.min_version_size;
    const { kind, base } = isMinimum ? { kind: "minimum", base: 0 } : decides;
    const why = t.charts.bounds[kind](100 - guards.max_shrink_percent, size(base));
    found.push({ size: bounds.least, text: t.charts.least(size(bounds.least), why) });
  }
  if (bounds.most !== null) {
    const why = t.charts.bounds[usual.kind](100 + guards.max_growth_percent, size(usual.base));
    found.push({ size: bounds.most, text: t.charts.most(size(bounds.most), why) });
  }
  return found;
}
