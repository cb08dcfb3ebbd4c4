// A year of backups as a calendar: a column for each week, a square for each day.

import { html, useMemo } from "../../lib/html.js";
import { readAll, useReading } from "../../lib/data.js";
import { OUTCOME_KINDS, outcomesOf } from "../../components/event.js";
import { ChartError } from "../../components/feedback.js";
import { t } from "../../texts/collection.js";
import { DAY, DayGrid, beginOfWeek, startOfDay } from "./day_grid.js";

const WEEKS = 53;
const MANY = 3000;
// What a day is shown as if several things happened on it, the worst first.
const WORST_FIRST = ["failed", "suspicious", "arrived", "refused", "none"];

export function Calendar({ collection, now }) {
  const today = startOfDay(now);
  const begin = beginOfWeek(today, WEEKS - 1);
  const since = begin.toISOString().slice(0, 10);
  const query = { collection: collection.id, since, kind: OUTCOME_KINDS };
  const events = useReading(`calendar ${collection.id}`, () => readAll("/events", { query, most: MANY }), 300);
  const days = useMemo(
    () => (events.data ? daysOf(events.data, begin, today, collection) : null),
    [events.data, since],
  );
  if (!days && !events.error) return null;
  return html`<section class="card">
    <div class="sec">
      <h2>${t.calendar.title}</h2>
      ${days && html`<p class="dim sm">${summaryOf(days)}</p>`}
    </div>
    ${events.error && html`<${ChartError} error=${events.error} at=${events.at} retry=${events.retry} />`}
    ${days && html`<${Year} days=${days} />`}
  </section>`;
}

function summaryOf(days) {
  const read = days.filter((one) => one.kind !== "unread");
  return t.calendar.summary(read.filter((one) => one.arrived > 0).length, read.length, read.length < days.length);
}

function Year({ days }) {
  return html`<${DayGrid}
      days=${days}
      label=${summaryOf(days)}
      square=${(day, place) => html`<${Square} kind=${day.kind} ...${place} />`}
      title=${(day) => t.calendar.day(day.arrived, day.kind)}
    />
    <div class="key">
      ${["arrived", "failed", "suspicious", "refused", "none"]
        .filter((kind) => days.some((day) => day.kind === kind))
        .map(
          (kind) =>
            html`<span
              ><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
                <${Square} kind=${kind} x="0" y="0" /></svg
              >${t.calendar.kinds[kind]}</span
            >`,
        )}
    </div>`;
}

/**
 * One entry for each day; the worst that happened on it, with the number of backups that arrived. Of a collection with
 * very many events only the newest ones are read: nothing is known about the days before them.
 */
function daysOf(events, begin, today, collection) {
  const days = Array.from({ length: Math.round((today - begin) / DAY) + 1 }, (_, index) => ({
    at: new Date(begin.getTime() + index * DAY),
    arrived: 0,
    kind: "none",
  }));
  for (const { at, hasArrived, kind } of outcomesOf(events)) {
    const day = days[Math.floor((new Date(at).getTime() - begin.getTime()) / DAY)];
    if (!day) continue;
    if (hasArrived) day.arrived += 1;
    day.kind = WORST_FIRST.find((one) => one === kind || one === day.kind) ?? "none";
  }
  const created = startOfDay(new Date(collection.created_at));
  const read = events.length < MANY ? begin : startOfDay(new Date(events.at(-1).at));
  const kindOf = (day) =>
    day.kind !== "none" ? day.kind : day.at < read ? "unread" : day.at < created ? "before" : "none";
  return days.map((day) => ({ ...day, kind: kindOf(day) }));
}

/** The size tells the kinds apart, too: a day without a backup is a dot. */
function Square({ kind, x, y }) {
  const [px, py] = [Number(x), Number(y)];
  if (kind === "arrived") return html`<rect class="day" x=${px} y=${py} width="9" height="9" rx="2" />`;
  if (kind === "failed" || kind === "suspicious" || kind === "refused")
    return html`<rect
      class=${`day hollow ${kind === "refused" ? "full" : kind}`}
      x=${px + 1}
      y=${py + 1}
      width="7"
      height="7"
      rx="1"
    />`;
  return html`<rect
    class=${kind === "before" || kind === "unread" ? "day faded" : "day dot"}
    x=${px + 2.5}
    y=${py + 2.5}
    width="4"
    height="4"
    rx="1"
  />`;
}
