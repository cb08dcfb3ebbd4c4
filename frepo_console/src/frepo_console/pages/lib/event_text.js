// One line for an event: what happened, and the state whose shape and colour it has.

import { size } from "./format.js";
import { t } from "../texts.js";

const STATES = {
  "version.added": "ok",
  "version.refused": "full",
  "version.suspicious": "suspicious",
  "version.quarantined": "suspicious",
  "collection.overdue": "overdue",
  "collection.recovered": "ok",
  "collection.full": "full",
  "blob.damaged": "damaged",
  "blob.healed": "ok",
  "storage.full": "damaged",
  "storage.unavailable": "overdue",
  "storage.recovered": "ok",
  "job.failed": "overdue",
  "job.recovered": "ok",
};

const OUTCOMES = { good: "ok", broken: "damaged" };

/** The state; `new` stands for what is neither good nor bad. */
export function eventState({ kind, data }) {
  if (kind === "version.checked") return OUTCOMES[data.outcome] ?? "new";
  if (kind === "trash.ended" && data.reason === "no_space") return "late";
  return STATES[kind] ?? "new";
}

/** "Version 214 received". A kind without a text of its own is shown as it is named. */
export function eventTitle(event) {
  const text = t.events[event.kind];
  return text ? text(event) : event.kind.replace(/[._]/g, " ");
}

/** What follows the title: the size, the reason, and who did it. */
export function eventDetail(event) {
  const { data } = event;
  const by = event.actor_name ?? (event.actor.includes(":") ? event.actor : null);
  const parts = [data.size && size(data.size), data.message || data.reason || data.error, by && t.by(by)];
  return parts.filter(Boolean).join(", ");
}
