// How the service grows, when it will be full at this rate, and its sizes in figures.

import { html, useMemo, useState } from "../../lib/html.js";
import { readAll, useReading, useReload } from "../../lib/data.js";
import { count, date, duration, share, size } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { Curve } from "../../components/charts.js";
import { ChartError } from "../../components/feedback.js";
import { t } from "../../texts.js";

const DAY = 24 * 60 * 60 * 1000;
const RANGES = [30, 182, 730];
const FIVE_YEARS = 5 * 365 * DAY;
// As high as the figures next to it, if they are next to it.
const HEIGHT = matchMedia("(max-width: 62rem)").matches ? 190 : 290;
const SPREAD = 0.25;

export function Storage({ overview, now }) {
  const [days, setDays] = useState(RANGES[1]);
  const since = new Date(now - days * DAY).toISOString().slice(0, 10);
  const samples = useReading(`history ${days}`, () => readAll("/history", { query: { since } }), 0);
  // A sample is written each day. The chart stays until the new one is read.
  useReload(samples, now.toISOString().slice(0, 10));
  const chart = useMemo(
    () => (samples.data ? chartOf(samples.data, overview, days) : null),
    [samples.data, overview, days],
  );
  return html`<section class="card w8">
    <div class="sec">
      <h2>${t.storage.title}</h2>
      <p class="dim sm">${sentence(overview, now)}</p>
      <span class="seg end" role="group" aria-label=${t.storage.range}>
        ${RANGES.map(
          (range) =>
            html`<button class="btn s" aria-pressed=${String(range === days)} onClick=${() => setDays(range)}>
              ${t.storage.ranges[range]}
            </button>`,
        )}
      </span>
    </div>
    ${samples.error && html`<${ChartError} error=${samples.error} at=${samples.at} retry=${samples.retry} />`}
    ${
      chart
        ? html`<${Curve}
              ...${chart}
              height=${HEIGHT}
              label=${t.storage.label(size(overview.size.stored), sentence(overview, now))}
            />
            <div class="key">
              <span
                ><svg width="18" height="4" aria-hidden="true"><path d="M0 2h18" class="stroke" /></svg
                >${t.storage.stored}</span
              >
              ${
                chart.lines.length > 2 &&
                html`<span
                  ><svg width="18" height="4" aria-hidden="true">
                    <path d="M0 2h18" class="stroke" stroke-dasharray="5 3" /></svg
                  >${t.storage.forecast}</span
                >`
              }
              ${
                chart.capacity &&
                html`<span class="full"
                  ><svg width="18" height="4" aria-hidden="true">
                    <path d="M0 2h18" class="stroke" stroke-dasharray="2 2" /></svg
                  >${t.storage.capacity(size(chart.capacity))}</span
                >`
              }
            </div>`
        : samples.data && html`<p class="empty">${t.storage.tooNew}</p>`
    }
  </section>`;
}

function sentence({ growth_per_day: growth, full_on: full, free_space: free }, now) {
  if (full && new Date(full).getTime() - now.getTime() > FIVE_YEARS) return t.storage.grows(size(growth));
  if (full) return t.storage.fullOn(date(full, now), size(growth));
  if (growth !== null && growth !== undefined)
    return growth < 0
      ? t.storage.shrinks(size(-growth))
      : free === null
        ? t.storage.growsOnly(size(growth))
        : t.storage.grows(size(growth));
  return free === null ? "" : t.storage.free(size(free));
}

/** The lines of the chart: what is stored, the forecast with its spread, and the capacity. Null without two samples. */
function chartOf(samples, overview, days) {
  if (samples.length < 2) return null;
  const past = samples.map((one) => new Date(one.at));
  const today = new Date(overview.at);
  const ahead =
    overview.growth_per_day > 0
      ? Array.from({ length: 8 }, (_, index) => new Date(today.getTime() + ((index + 1) * days * DAY) / 16))
      : [];
  const times = [...past, today, ...ahead];
  const stored = overview.size.stored;
  const fill = (values) => [...values, ...Array(times.length - values.length).fill(null)];
  const future = (rate) => [
    ...past.map(() => null),
    stored,
    ...ahead.map((time) => stored + ((time.getTime() - today.getTime()) / DAY) * rate),
  ];
  const growth = overview.growth_per_day;
  /** @type {CurveLine[]} */
  const lines = [{ values: fill([...samples.map((one) => one.size), stored]), isFilled: true }];
  lines.push({ values: [...past.map(() => null), stored, ...ahead.map(() => null)], isPoint: true });
  if (ahead.length) {
    lines.push({ values: future(growth * (1 + SPREAD)), colour: "accent-t", isBand: true });
    lines.push({ values: future(growth * (1 - SPREAD)), colour: "accent-t" });
    lines.push({ values: future(growth), dash: [6, 4] });
  }
  const capacity = overview.free_space === null ? null : stored + overview.free_space;
  // A capacity far above all that is stored would press the curve onto the axis.
  const isNear = capacity !== null && capacity < 4 * Math.max(...lines.flatMap((line) => line.values.map(Number)));
  if (isNear) lines.push({ values: times.map(() => capacity), dash: [2, 3], colour: "full" });
  return { times, lines, marks: [today], capacity: isNear ? capacity : null };
}

/** The free space in bytes, and as a part of the whole disk or quota, if the storage can tell them. */
function freeSpace({ free_space: free, total_space: total, storage }) {
  if (free === null) return [t.figures.unknown, t.figures.notReported(storage)];
  return [size(free), total ? t.figures.freeOf(share(free / total), size(total)) : t.figures.freeIn(storage)];
}

/** What is known of all versions, how old the restore tests are, and who sends the same night after night. */
function factsAboutBackups({ verdicts, restore_tests: tests, unchanged }) {
  return [
    [t.figures.good, count(verdicts.good), t.figures.verdicts(verdicts) || t.figures.noneBad],
    [t.figures.tested, count(tests.good), ...untestedText(tests)],
    [
      t.figures.unchanged,
      count(unchanged.number),
      unchanged.number > 0
        ? html`<a href=${link(["collections"], { unchanged: String(unchanged.nights) })}
            >${t.figures.unchangedFor(unchanged.nights)}</a
          >`
        : t.figures.unchangedFor(unchanged.nights),
    ],
  ];
}

/** What was not tested, as a link to it, and its colour. */
function untestedText(tests) {
  const text = t.figures.untested(tests, duration(tests.every));
  if (tests.broken + tests.untested + tests.never === 0) return [text];
  return [html`<a class="fg" href=${link(["collections"], { untested: tests.every })}>${text}</a>`, "late"];
}

export function Figures({ overview }) {
  const { sent, stored } = overview.size;
  const facts = [
    [t.figures.stored, size(stored), t.figures.blobs(count(overview.size.blobs))],
    [t.figures.free, ...freeSpace(overview)],
    [t.figures.sent, size(sent), t.figures.inVersions(overview.versions, count(overview.versions))],
    [
      overview.compact ? t.figures.compacted : t.figures.deduplication,
      size(Math.max(0, sent - stored)),
      t.figures.saved(share(sent > stored ? 1 - stored / sent : 0)),
    ],
    [
      t.figures.uploads,
      count(overview.last_24_hours.uploads),
      t.figures.refused(count(overview.last_24_hours.refusals)),
    ],
    [
      t.figures.damaged,
      count(overview.damaged_blobs),
      overview.damaged_blobs ? t.figures.damagedText : t.figures.undamaged,
      overview.damaged_blobs > 0 && "damaged",
    ],
    ...factsAboutBackups(overview),
  ];
  return html`<section class="card w4" aria-label=${t.figures.title}>
    <dl class="facts">
      ${facts.map(
        ([name, value, text, state]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class=${state ? `${state} fg` : ""}>${value}<small>${text}</small></dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
