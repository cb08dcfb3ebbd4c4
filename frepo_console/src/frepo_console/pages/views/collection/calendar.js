// A year of backups as a calendar: a column for each week, a square for each day.

import { html, useMemo } from "../../lib/html.js";
import { readAll, useReading } from "../../lib/data.js";
import { date, month } from "../../lib/format.js";
import { t } from "../../texts.js";

const DAY = 24 * 60 * 60 * 1000;
const WEEKS = 53;
const SIZE = 11;

export function Calendar({ collection, now }) {
  const today = startOfDay(now);
  const begin = new Date(today.getTime() - ((WEEKS - 1) * 7 + weekday(today)) * DAY);
  const since = begin.toISOString().slice(0, 10);
  const query = { collection: collection.id, since, kind: ["version.added", "version.suspicious", "version.refused"] };
  const events = useReading(`calendar ${collection.id} ${since}`, () => readAll("/events", { query, most: 3000 }), 300);
  const days = useMemo(() => (events.data ? daysOf(events.data, begin, today, collection) : null), [events.data, since]);
  if (!days) return null;
  const arrived = days.filter((one) => one.kind === "arrived").length;
  return html`<section class="card">
    <div class="sec"><h2>${t.calendar.title}</h2><p class="dim sm">${t.calendar.summary(arrived, days.length)}</p></div>
    <div class="scroll" tabindex="0" role="region" aria-label=${t.calendar.title}>
      <svg class="cal" preserveAspectRatio="xMinYMin" viewBox=${`0 -14 ${WEEKS * SIZE} ${7 * SIZE + 13}`} role="img" aria-label=${t.calendar.summary(arrived, days.length)}>
        ${monthNames(days).map(([week, name]) => html`<text x=${week * SIZE} y="-4">${name}</text>`)}
        ${days.map((day, index) => html`<${Day} day=${day} index=${index} />`)}
      </svg>
    </div>
    <div class="key">
      ${["arrived", "suspicious", "refused", "none"].filter((kind) => days.some((day) => day.kind === kind)).map((kind) => html`<span><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><${Square} kind=${kind} x="0" y="0" /></svg>${t.calendar.kinds[kind]}</span>`)}
    </div>
  </section>`;
}

const startOfDay = (time) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
const weekday = (time) => (time.getUTCDay() + 6) % 7;

/** One entry for each day; the worst that happened on it, with the number of backups. */
function daysOf(events, begin, today, collection) {
  const days = Array.from({ length: Math.round((today - begin) / DAY) + 1 }, (_, index) => ({ at: new Date(begin.getTime() + index * DAY), arrived: 0, kind: "none" }));
  for (const event of events) {
    const day = days[Math.floor((new Date(event.at) - begin) / DAY)];
    if (!day) continue;
    if (event.kind !== "version.refused") day.arrived += 1;
    if (event.kind === "version.suspicious") day.kind = "suspicious";
    else if (event.kind === "version.added" && day.kind !== "suspicious") day.kind = "arrived";
    else if (event.kind === "version.refused" && day.kind === "none") day.kind = "refused";
  }
  const created = startOfDay(new Date(collection.created_at));
  return days.map((day) => (day.at < created && day.kind === "none" ? { ...day, kind: "before" } : day));
}

function Day({ day, index }) {
  const title = `${date(day.at)}: ${t.calendar.day(day.arrived, day.kind)}`;
  return html`<g><title>${title}</title><${Square} kind=${day.kind} x=${Math.floor(index / 7) * SIZE} y=${(index % 7) * SIZE} /></g>`;
}

/** The size tells the kinds apart, too: a day without a backup is a dot. */
function Square({ kind, x, y }) {
  const [px, py] = [Number(x), Number(y)];
  if (kind === "arrived") return html`<rect class="day" x=${px} y=${py} width="9" height="9" rx="2" />`;
  if (kind === "suspicious" || kind === "refused")
    return html`<rect class=${`day hollow ${kind === "refused" ? "full" : kind}`} x=${px + 1} y=${py + 1} width="7" height="7" rx="1" />`;
  return html`<rect class=${kind === "before" ? "day faded" : "day dot"} x=${px + 2.5} y=${py + 2.5} width="4" height="4" rx="1" />`;
}

function monthNames(days) {
  const names = [];
  for (let week = 0; week < WEEKS; week += 1) {
    const first = days[week * 7]?.at;
    const isNew = first && (week === 0 || first.getUTCMonth() !== days[week * 7 - 7].at.getUTCMonth());
    if (isNew && week < WEEKS - 2) names.push([week, month(first)]);
  }
  return names.length > 1 && names[1][0] - names[0][0] < 3 ? names.slice(1) : names;
}
