// The sizes of sixty nights as a line, with the sizes beyond which the guards object, and how long each night's job ran.

import { html, useMemo } from "../../../lib/html.js";
import { path } from "../../../lib/api.js";
import { useResource } from "../../../lib/data.js";
import { length, size } from "../../../lib/format.js";
import { Curve } from "../../../components/charts.js";
import { hasFailed } from "../../../components/event.js";
import { Icon } from "../../../components/icons.js";
import { t } from "../../../texts/collection.js";

const NIGHTS = 60;
const DAY = 24 * 3600 * 1000;
const HEIGHT = 150;
// A limit far above all sizes would press the curve onto the axis.
const FAR = 4;
/** @type {{ kind: string; colour?: string }[]} */
const KINDS = [{ kind: "kept" }, { kind: "suspicious", colour: "suspicious" }, { kind: "failed", colour: "failed" }];

/** `events` are those of the uploads; without them, as the token may not see them, the `versions` are shown. */
export function SizeChart({ collection, events, versions, now }) {
  const since = now.getTime() - NIGHTS * DAY;
  const nights = useMemo(
    () => (events ? nightsOf(events) : versions.map(nightOf)).filter((one) => one.at > since).sort(byTime),
    [events, versions],
  );
  const bounds = boundsOf(collection);
  const chart = nights.length > 1 && chartOf(nights, bounds);
  return html`<section class="card">
    <div class="sec">
      <h2>${t.charts.sizes}</h2>
      <p class="dim sm">${t.charts.nights(NIGHTS)}</p>
    </div>
    ${
      chart
        ? html`<${Curve} ...${chart} height=${HEIGHT} label=${labelOf(nights)} />`
        : html`<p class="empty">${t.charts.tooNew}</p>`
    }
    <div class="key">
      ${KINDS.filter(({ kind }) => nights.some((one) => one.kind === kind)).map(
        ({ kind }) =>
          html`<span class=${kind}
            >${kind === "kept" ? html`<i></i>` : html`<${Icon} name=${kind} isColoured />`}${t.charts.kinds[kind]}</span
          >`,
      )}
      ${bounds.length > 0 && html`<span class="bounds">${bounds.map((one) => one.text).join("; ")}</span>`}
    </div>
    <${Durations} collection=${collection} since=${since} />
  </section>`;
}

const byTime = (one, other) => one.at - other.at;

const nightOf = ({ created_at: at, size: bytes, verdict, quarantined, suspicious }) => ({
  at: new Date(at).getTime(),
  size: bytes,
  kind: verdict === "broken" ? "failed" : quarantined || suspicious ? "suspicious" : "kept",
});

/** What each upload brought, from events with the newest first. What is found out later counts on its day. */
function nightsOf(events) {
  const found = new Map();
  for (const event of events.toReversed()) {
    const { version_number: number, at, kind, data = {} } = event;
    if (!number) continue;
    const known = found.get(number) ?? { at: new Date(at).getTime(), size: data.size, kind: "kept" };
    if (hasFailed(event) || kind === "version.condemned") found.set(number, { ...known, kind: "failed" });
    else if (kind === "version.suspicious" || kind === "version.quarantined")
      found.set(number, { ...known, kind: data.reason === "overtaken" ? known.kind : "suspicious" });
    else found.set(number, { ...known, kind: "kept" });
  }
  return [...found.values()].filter((one) => Number.isInteger(one.size));
}

function chartOf(nights, bounds) {
  const most = Math.max(...nights.map((one) => one.size));
  const times = nights.map((one) => new Date(one.at));
  /** @type {CurveLine[]} */
  const lines = KINDS.map(({ kind, colour }) => ({
    values: nights.map((one) => (one.kind === kind ? one.size : null)),
    ...(colour ? { colour, isPoint: true } : { isFilled: true, spansGaps: true }),
  }));
  for (const { size: limit } of bounds.filter((one) => one.size < FAR * most))
    lines.push({ values: times.map(() => limit), dash: [6, 4], colour: "text3" });
  return { times, lines };
}

/** "60 uploads, from 1.20 GB to 1.40 GB, the newest 1.38 GB". */
function labelOf(nights) {
  const sizes = nights.map((one) => one.size);
  return t.charts.label(nights.length, size(Math.min(...sizes)), size(Math.max(...sizes)), size(sizes.at(-1) ?? 0));
}

/** How long the backup job ran, if its client reports it. */
function Durations({ collection, since }) {
  const runs = useResource(collection.may.includes("version.list") ? `/collections${path(collection.id)}/runs` : null, {
    query: { limit: 100 },
  });
  const shown = (runs.data?.items ?? [])
    .filter((one) => one.seconds !== null && new Date(one.at).getTime() > since)
    .reverse();
  if (shown.length < 2) return null;
  const seconds = shown.map((one) => one.seconds);
  const most = Math.max(...seconds);
  return html`<h3>${t.charts.durations}</h3>
    <${Curve}
      times=${shown.map((one) => new Date(one.at))}
      lines=${[{ values: seconds, isFilled: true }]}
      format=${(value) => length(value, most)}
      height=${HEIGHT}
      label=${t.charts.durationLabel(length(Math.min(...seconds)), length(most), length(seconds.at(-1)))}
    />`;
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
