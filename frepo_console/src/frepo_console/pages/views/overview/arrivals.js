// What has arrived. The last 24 hours are columns: what arrived stands on the line, what is wrong hangs below it, what
// is expected is hollow. What is well is folded into one line for each label, with a dot for each of the last 14 days.

import { html, useMemo, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { readAll, useReading, useResource } from "../../lib/data.js";
import { date, durationSeconds, elapsed, size, timeOfDay } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { OUTCOME_KINDS, outcomesOf } from "../../components/event.js";
import { ChartError } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { StateIcon } from "../../components/state.js";
import { t } from "../../texts.js";

const STEP = 30 * 60 * 1000;
const PAST = 48;
const FUTURE = 8;
const HIGHEST = 12;
const LABEL_EVERY = 8;
const MANY = 2000;
const BELOW = ["overdue", "failed", "late", "full", "suspicious"];

export function Arrivals({ collections, now }) {
  const access = useAccess();
  // The columns move every half an hour, so that an answer is valid for all requests between. The chart stays
  // meanwhile.
  const end = Math.ceil(now.getTime() / STEP) * STEP;
  const since = new Date(end - PAST * STEP).toISOString();
  const events = useReading(access.may("events.view") ? "arrivals" : null, () =>
    readAll("/events", { query: { kind: OUTCOME_KINDS, since }, most: MANY }),
  );
  const found = events.data ?? (access.may("events.view") ? null : lastVersions(collections));
  const columns = useMemo(() => (found ? columnsOf(found, collections, end, now) : null), [found, collections, end]);
  if (!columns && !events.error) return null;
  const summary = columns && summaryOf(totalsOf(columns), events.data);
  return html`<section class="card">
    <div class="sec">
      <h2>${t.arrivals.title}</h2>
      ${columns && html`<p class="dim sm">${summary}</p>`}
    </div>
    ${events.error && html`<${ChartError} error=${events.error} at=${events.at} retry=${events.retry} />`}
    ${columns && html`<${Columns} columns=${columns} summary=${summary} />`}
  </section>`;
}

/** What arrived. If there are too many events to read them all, since when. */
function summaryOf(totals, events) {
  const since = events?.length >= MANY && t.arrivals.onlySince(timeOfDay(events.at(-1).at));
  return [t.arrivals.summary(totals), since].filter(Boolean).join(", ");
}

function Columns({ columns, summary }) {
  const totals = totalsOf(columns);
  const unit = Math.ceil(Math.max(...columns.map((column) => column.arrived), 1) / HIGHEST);
  return html`<div role="img" aria-label=${summary}>
      <ul class="tl">
        ${columns.map((column) => html`<${Column} column=${column} unit=${unit} />`)}
      </ul>
      <ul class="tl below">
        ${columns.map((column) => html`<${Trouble} column=${column} />`)}
      </ul>
      <div class="x sm">
        ${labels(columns).map(([text, isNow]) => html`<span class=${isNow ? "b" : ""}>${text}</span>`)}
      </div>
    </div>
    <div class="key">
      <span><i class="ok"></i>${unit > 1 ? t.arrivals.severalArrived(unit) : t.arrivals.arrived}</span>
      <span><i class="wait"></i>${t.arrivals.expected}</span>
      ${BELOW.filter((state) => totals[state] > 0).map(
        (state) => html`<span class=${state}><${Icon} name=${state} isColoured />${t.arrivals[state]}</span>`,
      )}
    </div>`;
}

function Column({ column, unit }) {
  const blocks = (number) => Math.min(HIGHEST, Math.ceil(number / unit));
  const title = t.arrivals.column(timeOfDay(column.at), column.arrived, column.expected);
  return html`<li class=${column.isNow ? "now" : ""} title=${title}>
    ${Array.from({ length: blocks(column.arrived) }, () => html`<i class="ok"></i>`)}
    ${Array.from({ length: blocks(column.expected) }, () => html`<i class="wait"></i>`)}
  </li>`;
}

const Trouble = ({ column }) =>
  html`<li>
    ${BELOW.filter((state) => column[state] > 0).map(
      (state) =>
        html`<span class=${state} title=${`${column[state]} ${t.arrivals[state]}`}
          ><${Icon} name=${state} isColoured
        /></span>`,
    )}
  </li>`;

const lastVersions = (collections) =>
  collections.filter((one) => one.last_version).map((one) => ({ kind: "version.added", at: one.last_version.at }));

function columnsOf(events, collections, end, now) {
  const begin = end - PAST * STEP;
  const columns = Array.from({ length: PAST + FUTURE }, (_, index) => ({
    at: begin + index * STEP,
    isNow: index === PAST,
    ...Object.fromEntries(["arrived", "expected", ...BELOW].map((name) => [name, 0])),
  }));
  const add = (time, name, count = 1) => {
    const column = columns[Math.floor((new Date(time).getTime() - begin) / STEP)];
    if (column) column[name] += count;
  };
  for (const { at, hasArrived, kind, count } of outcomesOf(events)) {
    if (hasArrived) add(at, "arrived"); // one in quarantine has not
    if (kind === "refused") add(at, "full", count);
    else if (kind === "failed" || kind === "suspicious") add(at, kind);
  }
  for (const one of collections) {
    if (!one.due_at) continue;
    const missing = ["overdue", "late"].find((state) => one.states.includes(state));
    if (missing) add(one.due_at, missing);
    else if (new Date(one.due_at) > now) add(Math.max(new Date(one.due_at).getTime(), end), "expected");
  }
  return columns;
}

function totalsOf(columns) {
  const sum = (name) => columns.reduce((total, column) => total + column[name], 0);
  return Object.fromEntries(["arrived", "expected", ...BELOW].map((name) => [name, sum(name)]));
}

function labels(columns) {
  return columns
    .filter((_, index) => index % LABEL_EVERY === 0)
    .map((column) => [column.isNow ? t.arrivals.now : timeOfDay(column.at), column.isNow]);
}

const DAYS = 14;
const DAY = 24 * 3600;
const NAMED = 100;
const OLD = 7 * DAY * 1000;

/** Each collection is in the line of its first label. */
export function Labels({ collections, now }) {
  const found = useResource("/history/arrivals", { query: { days: DAYS }, every: 300 });
  const quiet = collections.filter((one) => one.state === "ok");
  const groups = useMemo(() => [...Map.groupBy(quiet, (one) => one.labels[0] ?? "")].sort(byName), [collections]);
  const days = found.data?.days ?? [];
  const arrived = useMemo(
    () => Object.fromEntries((found.data?.items ?? []).map((one) => [one.id, one.arrived])),
    [found.data],
  );
  return html`<section class="card flush">
    <div class="sec">
      <h2>${t.labels.title(quiet.length)}</h2>
      ${days.length > 0 && html`<p class="dim sm">${t.labels.dots(DAYS)}</p>`}
    </div>
    ${found.error && html`<${ChartError} error=${found.error} at=${found.at} retry=${found.retry} />`}
    <ul class="list">
      ${groups.map(([label, items]) => html`<${Line} key=${label} ...${{ label, items, days, arrived, now }} />`)}
    </ul>
  </section>`;
}

/** The largest first; those without a label last. */
const byName = ([one, items], [other, others]) => Number(!one) - Number(!other) || others.length - items.length;

function Line({ label, items, days, arrived, now }) {
  const [isOpen, setOpen] = useState(false);
  const oldest = oldestOf(items);
  const stale = isOld(oldest, now) ? oldest : null;
  return html`<li>
    <details class="grow" onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary class="row wrap">
        <b class="cut">${label || t.labels.none}</b>
        <span class="dim sm grow"
          >${stale ? t.collections(items.length) : t.labels.line(items.length, elapsed(timeOf(oldest), now))}</span
        >
        <${Dots} items=${items} days=${days} arrived=${arrived} />
      </summary>
      ${
        isOpen &&
        html`<ul>
          ${items.slice(0, NAMED).map(
            (one) =>
              html`<li class="row" key=${one.id}>
                <${StateIcon} state="ok" />
                <a class="cut grow" href=${link(["collections", one.id])}>${one.name}</a>
                <span class="dim sm"
                  >${[elapsed(timeOf(one), now), size(one.last_version?.size ?? 0)].join(" · ")}</span
                >
                <${Dots} items=${[one]} days=${days} arrived=${arrived} />
              </li>`,
          )}
          ${items.length > NAMED && html`<li><a href=${link(["collections"], { label, state: "ok" })}>${t.labels.all}</a></li>`}
        </ul>`
      }
    </details>
    ${
      stale &&
      html`<span class="late sm"
        ><a class="fg" href=${link(["collections", stale.id])}>${t.labels.oldest(elapsed(timeOf(stale), now))}</a></span
      >`
    }
  </li>`;
}

const oldestOf = (items) => items.toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1))[0];

/** Whether it is worth a look, although it is in time: who restores it loses more than a week. */
const isOld = (one, now) => now.getTime() - new Date(timeOf(one)).getTime() > OLD;

const timeOf = (one) => one.last_version?.at ?? one.created_at;

/** One dot for each day: full if all have sent something, hollow if one that should send each day has not. */
function Dots({ items, days, arrived }) {
  const kinds = days.map((day, index) => kindOf(items, day, index, arrived, index === days.length - 1));
  const missed = days.filter((day, index) => kinds[index].missed > 0);
  const text = missed.length ? t.labels.missed(missed.map((day) => date(day)).join(", ")) : t.labels.noneMissed;
  if (days.length === 0) return null;
  return html`<svg class="dots" viewBox=${`0 0 ${days.length * 10} 10`} role="img" aria-label=${text}>
    ${kinds.map(
      ({ arrivals, missed: missing }, index) =>
        html`<circle
          class=${missing ? "day hollow overdue" : arrivals ? "day ok" : "day dot"}
          cx=${index * 10 + 5}
          cy="5"
          r=${missing ? 3 : arrivals ? 4 : 1.5}
          ><title>${t.labels.day(date(days[index]), arrivals, missing)}</title></circle
        >`,
    )}
  </svg>`;
}

function kindOf(items, day, index, arrived, isToday) {
  let arrivals = 0;
  let missed = 0;
  for (const one of items) {
    const number = arrived[one.id]?.[index] ?? 0;
    arrivals += number;
    if (number === 0 && !isToday && isDaily(one) && one.created_at.slice(0, 10) < day) missed += 1;
  }
  return { arrivals, missed };
}

/** Whether it should send something each day. Of cron it is not known here. */
const isDaily = ({ expected_every: every }) => {
  const seconds = durationSeconds(every);
  return seconds !== null && seconds > 0 && seconds <= DAY;
};
