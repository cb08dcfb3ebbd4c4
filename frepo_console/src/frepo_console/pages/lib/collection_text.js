// Why a collection is in its state, in a few words, and what is expected of it.

import { dateTime, duration, elapsed, relative, size, timeOfDay } from "./format.js";
import { t } from "../texts.js";

const REASONS = {
  damaged: () => t.reasons.damaged,
  overdue: (collection, now) => t.reasons.overdue(elapsed(lastTime(collection), now)),
  full: () => t.reasons.full,
  suspicious: ({ last_version: last }) => (last?.suspicious ? t.reasons.suspicious(last.number) : t.reasons.quarantined),
  late: ({ due_at }, now) => t.reasons.late(elapsed(due_at, now)),
  new: () => t.reasons.new,
  ok: () => "",
};

const DETAILS = {
  damaged: ({ versions }) => t.details.damaged(versions),
  overdue: (collection) => expectation(collection),
  full: ({ limits }) => t.details.full(limits.total_size ? size(limits.total_size) : t.versions(limits.versions)),
  suspicious: ({ last_version: last }, now) => (last ? `${size(last.size)}, ${dateTime(last.at, now)}` : ""),
  late: ({ due_at, overdue_at }) => t.details.late(timeOfDay(due_at), overdue_at ? timeOfDay(overdue_at) : ""),
  new: ({ created_at }, now) => t.details.new(relative(created_at, now)),
  ok: () => "",
};

const lastTime = ({ last_version, created_at }) => last_version?.at ?? created_at;

export const reason = (collection, now) => REASONS[collection.state](collection, now);

export const detail = (collection, now) => DETAILS[collection.state](collection, now);

/** "Expected every day, grace 2 hours"; an empty text if no backups are expected. */
export function expectation({ expected_every: every, grace }) {
  if (!every) return "";
  const when = every.startsWith("P") ? t.details.every(duration(every)) : t.details.cron(every);
  return grace ? t.details.withGrace(when, duration(grace)) : when;
}
