// Days as squares: a column for each week, from Monday to Sunday, with the names of the months above.

import { html, useLayoutEffect, useRef } from "../../lib/html.js";
import { date, month, weekday } from "../../lib/format.js";

export const DAY = 24 * 60 * 60 * 1000;
const SIZE = 11;
const LEFT = 24;
// Any Monday: only its name and those of Wednesday and Friday are shown.
const MONDAY = new Date("2024-01-01T12:00:00Z");

/** Midnight in UTC, as the service counts days. */
export const startOfDay = (time) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));

/** The Monday `weeks` weeks before the week of a day. */
export const beginOfWeek = (day, weeks = 0) =>
  new Date(day.getTime() - (weeks * 7 + ((day.getUTCDay() + 6) % 7)) * DAY);

/**
 * The grid of `days`, the first of which is a Monday and each of which has its time in `at`. `square(day, {x, y})`
 * draws one, `title(day)` says what it means.
 */
export function DayGrid({ days, label, square, title }) {
  const weeks = Math.max(26, Math.ceil(days.length / 7));
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  // A phone has room for half a year.
  useLayoutEffect(() => place.current?.scrollTo(place.current.scrollWidth, 0), [weeks]);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label} ref=${place}>
    <svg
      class="cal"
      preserveAspectRatio="xMinYMin"
      viewBox=${`-${LEFT} -12 ${weeks * SIZE + LEFT} ${7 * SIZE + 11}`}
      role="img"
      aria-label=${label}
    >
      ${monthNames(days).map(([week, name]) => html`<text x=${week * SIZE} y="-4">${name}</text>`)}
      ${[0, 2, 4].map(
        (day) => html`<text x=${-LEFT} y=${day * SIZE + 8}>${weekday(new Date(MONDAY.getTime() + day * DAY))}</text>`,
      )}
      ${days.map(
        (day, index) =>
          html`<g
            ><title>${`${date(day.at)}: ${title(day)}`}</title
            >${square(day, { x: Math.floor(index / 7) * SIZE, y: (index % 7) * SIZE })}</g
          >`,
      )}
    </svg>
  </div>`;
}

function monthNames(days) {
  /** @type {[number, string][]} */
  const names = [];
  const weeks = Math.ceil(days.length / 7);
  for (let week = 0; week < weeks; week += 1) {
    const first = days[week * 7].at;
    const isNew = week === 0 || first.getUTCMonth() !== days[week * 7 - 7].at.getUTCMonth();
    if (isNew && (week < weeks - 2 || week === 0)) names.push([week, month(first)]);
  }
  return names.length > 1 && names[1][0] - names[0][0] < 3 ? names.slice(1) : names;
}
