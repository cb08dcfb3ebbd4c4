// The state of a collection, always as shape and word, and why; its labels; and its sizes as small bars.

import { html, useMemo } from "../lib/html.js";
import { useResource } from "../lib/data.js";
import { dateTime, duration, durationSeconds, elapsed, relative, size, timeOfDay } from "../lib/format.js";
import { inWords, t } from "../texts.js";
import { Icon } from "./icons.js";

const SIZES_OF = 100;
const SIZE_DAYS = 20;

/** The states, the worst first. */
export const STATES = ["damaged", "overdue", "failed", "full", "problem", "suspicious", "late", "new", "ok"];

/** The states that need somebody. */
export const BAD_STATES = STATES.slice(0, STATES.indexOf("late"));

export const StateIcon = ({ state, label = t.states[state] }) =>
  html`<${Icon} name=${state} label=${label} isColoured />`;

/** How many collections are in each state that applies to them, how many there are, and how many need somebody. */
export function countStates(collections) {
  const number = (condition) => collections.filter(condition).length;
  return {
    ...Object.fromEntries(STATES.map((state) => [state, number(({ states }) => states.includes(state))])),
    total: collections.length,
    in_trouble: number(({ state }) => BAD_STATES.includes(state)),
  };
}

/** The worst state of a collection, and the others that apply as shapes. */
export const StateBadges = ({ collection: { state, states } }) =>
  html`<span class="row">
    <${StateBadge} state=${state} />${states
      .filter((one) => one !== state)
      .map((one) => html` <span class=${one} title=${t.states[one]}><${StateIcon} state=${one} /></span>`)}</span
  >`;

export const StateBadge = ({ state, text = t.states[state] }) =>
  html`<span class=${`badge ${state}`}><${Icon} name=${state} />${text}</span>`;

export const Tag = ({ children }) => html`<span class="tag">${children}</span>`;

/** Bars without axes, in the height of a line of text; one path, as a list has hundreds of them. */
export function Sparkline({ values, label }) {
  const most = Math.max(...values, 1);
  const width = values.length * 4 - 1;
  const bars = values.map((value, index) => `M${index * 4} 14v-${Math.max(1, (value / most) * 14).toFixed(1)}h3V14z`);
  return html`<svg class="spark" viewBox=${`0 0 ${width} 14`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <path fill="currentColor" d=${bars.join("")} />
  </svg>`;
}

/** Read how much the first 100 collections stored on the last days, once: a resource with `byId`, lists of bytes. */
export function useSizes(collections) {
  const ids = collections.slice(0, SIZES_OF).map((one) => one.id);
  const found = useResource(ids.length ? "/history/collections" : null, {
    query: { collection: ids, days: SIZE_DAYS },
    every: 0,
  });
  const byId = useMemo(() => {
    const known = (found.data?.items ?? []).filter((one) => one.sizes.length > 1);
    return Object.fromEntries(known.map((one) => [one.id, one.sizes.map((day) => day.size)]));
  }, [found.data]);
  return { ...found, byId };
}

/** What keeps good backups away, and so is named before their absence. */
export const CAUSES = ["failed", "full", "suspicious"];

/** What follows from the reason of a state, in the sentences of the service. */
const FOLLOWS = /; therefore (late|overdue): .*$/;

const REASONS = {
  damaged: () => t.reasons.damaged,
  overdue: (collection, now) => {
    if (collection.states.includes("new")) return t.reasons.neverSent;
    const absent = t.reasons.overdue(elapsed(lastTime(collection), now));
    const cause = CAUSES.find((state) => collection.states.includes(state));
    return cause ? t.reasons.because(t.causes[cause], absent) : absent;
  },
  failed: ({ state_reason: why }) => (why ? inWords(why.replace(FOLLOWS, "")) : t.reasons.failed),
  full: () => t.reasons.full,
  problem: ({ problems }) => inWords(problems.map((one) => one.message).join("; ")),
  suspicious: ({ last_version: last }) =>
    last?.suspicious ? t.reasons.suspicious(last.number) : t.reasons.quarantined,
  late: ({ due_at }, now) => t.reasons.late(elapsed(due_at, now)),
  new: () => t.reasons.new,
  ok: () => "",
};

const DETAILS = {
  damaged: ({ versions }) => t.details.damaged(versions),
  overdue: (collection) => expectation(collection),
  failed: (collection, now) => newestGood(collection, now),
  full: (collection) => {
    const { limits, versions, stored_size: stored } = collection;
    const isCount = limits.versions > 0 && (versions >= limits.versions || !limits.total_size);
    const used = isCount
      ? t.details.used(versions, t.versions(limits.versions))
      : t.details.used(size(stored), size(limits.total_size));
    const retention = minRetention(collection);
    return retention ? t.details.kept(used, retention) : used;
  },
  problem: ({ state_since: since }, now) => t.details.reported(relative(since, now)),
  suspicious: ({ last_version: last }, now) => {
    if (!last) return "";
    return last.suspicious
      ? `${size(last.size)}, ${dateTime(last.at, now)}`
      : t.details.lastGood(size(last.size), dateTime(last.at, now));
  },
  late: ({ due_at, overdue_at }) => t.details.late(timeOfDay(due_at), overdue_at ? timeOfDay(overdue_at) : ""),
  new: ({ created_at }, now) => t.details.new(relative(created_at, now)),
  ok: () => "",
};

/** Its minimum retention for people, empty for none. */
export const minRetention = ({ guards }) =>
  durationSeconds(guards.min_retention) ? duration(guards.min_retention) : "";

/** "Newest good: version 12, 24 Nov 02:00". */
export const newestGood = ({ newest_good: good }, now) =>
  good ? t.details.newestGood(good.number, dateTime(good.at, now)) : t.details.noneGood;

const lastTime = ({ last_version, created_at }) => last_version?.at ?? created_at;

/** Why a collection is in its state, in a few words. */
export const reason = (collection, now) => REASONS[collection.state](collection, now);

/** What more is to be said of its state. */
export const detail = (collection, now) => DETAILS[collection.state](collection, now);

/** "Expected every day, grace 2 hours"; an empty text if no backups are expected. */
export function expectation({ expected_every: every, grace }) {
  if (!every) return "";
  const when = every.startsWith("P") ? t.details.every(duration(every)) : t.details.cron(every);
  return grace ? t.details.withGrace(when, duration(grace)) : when;
}
