// A year of backups as a calendar: a column for each week, a square for each day.

import { html, useMemo } from "../../../lib/html.js";
import { readAll, useReading, useResource } from "../../../lib/data.js";
import { durationSeconds } from "../../../lib/format.js";
import { OUTCOME_KINDS, outcomesOf } from "../../../components/event.js";
import { ChartError } from "../../../components/feedback.js";
import { t } from "../../../texts/collection.js";
import { DAY, DayGrid, beginOfWeek, startOfDay } from "../day_grid.js";

const WEEKS = 53;
const MANY = 3000;
// The clocks differ, and a night may begin a little earlier than the one before.
const EARLY = 10 * 60 * 1000;
// What a day is shown as if several things happened on it, the worst first.
const WORST_FIRST = ["damaged", "failed", "suspicious", "arrived", "refused", "none"];
const MOST_TIMES = 1000;

const beginOf = (now) => beginOfWeek(startOfDay(now), WEEKS - 1);

/** What became of each upload of the last year. `isAllowed`: whether the token may read it. */
export function useOutcomes(collection, isAllowed, now) {
  const query = { collection: collection.id, since: beginOf(now).toISOString().slice(0, 10), kind: OUTCOME_KINDS };
  const key = isAllowed ? `calendar ${collection.id}` : null;
  return useReading(key, () => readAll("/events", { query, most: MANY }), 300);
}

export function Calendar({ collection, events, versions, now }) {
  const today = startOfDay(now);
  const begin = beginOf(now);
  const since = begin.toISOString().slice(0, 10);
  const expected = useExpected(collection, begin);
  const days = useMemo(
    () => (events.data ? daysOf(events.data, begin, today, collection, versions) : null),
    [events.data, since, versions],
  );
  const met = events.data && expected && countMet(events.data, expected, now);
  if (!days && !events.error) return null;
  return html`<section class="card">
    <div class="sec">
      <h2>${t.calendar.title}</h2>
      ${days && html`<p class="dim sm">${met ? t.calendar.met(...met) : summaryOf(days)}</p>`}
    </div>
    ${events.error && html`<${ChartError} error=${events.error} at=${events.at} retry=${events.retry} />`}
    ${days && html`<${Year} days=${days} />`}
  </section>`;
}

/**
 * The times of the last year at which the present schedule expects a backup, the oldest first; null if it expects none,
 * or until they are known. There are at most 1,000: of a short interval, the last ones.
 */
function useExpected({ expected_every: every, created_at: created }, begin) {
  const start = new Date(Math.max(begin.getTime(), new Date(created).getTime()));
  const length = durationSeconds(every) ?? 0;
  const isCron = Boolean(every) && !length;
  const times = useResource(isCron ? "/expected-times" : null, {
    query: { every, since: start.toISOString(), limit: MOST_TIMES },
    every: 0,
  });
  return useMemo(() => {
    if (isCron) return times.data?.items.map((time) => new Date(time).getTime()) ?? null;
    if (!length) return null;
    const number = Math.min(MOST_TIMES, Math.floor((Date.now() - start.getTime()) / (length * 1000)));
    return Array.from({ length: number }, (_, index) => Date.now() - (number - index) * length * 1000);
  }, [times.data, every, start.getTime()]);
}

/** `[how many of them a backup followed, how many have passed]`. */
function countMet(events, expected, now) {
  const arrivals = outcomesOf(events)
    .filter((one) => one.hasArrived)
    .map((one) => new Date(one.at).getTime());
  const past = expected.filter((time) => time < now.getTime());
  const met = past.filter((time, index) => {
    const end = past[index + 1] ?? now.getTime();
    return arrivals.some((at) => at >= time - EARLY && at < end + EARLY);
  });
  return past.length > 0 ? [met.length, past.length] : null;
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
      ${["arrived", "damaged", "failed", "suspicious", "refused", "none"]
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
function daysOf(events, begin, today, collection, versions) {
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
  for (const { created_at: at, damaged } of versions) {
    const day = damaged && days[Math.floor((new Date(at).getTime() - begin.getTime()) / DAY)];
    if (day) day.kind = "damaged";
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
  if (["damaged", "failed", "suspicious", "refused"].includes(kind))
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
