// An event in one line: what happened, to what and when, with the state whose shape and colour it has.

import { html } from "../lib/html.js";
import { exactTime, relative, size } from "../lib/format.js";
import { link } from "../lib/navigation.js";
import { t } from "../texts.js";
import { Icon } from "./icons.js";

const STATES = {
  "version.added": "ok",
  "version.refused": "full",
  "version.suspicious": "suspicious",
  "version.quarantined": "suspicious",
  "version.condemned": "failed",
  "version.unjudged": "late",
  "upload.aborted": "late",
  "run.failed": "failed",
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

/** Whether an upload arrived that looks wrong. One that newer ones have overtaken says nothing about the backups. */
export const looksWrong = ({ kind, data }) =>
  kind === "version.suspicious" || (kind === "version.quarantined" && data?.reason !== "overtaken");

/** Whether a backup failed: its job, or a broken version arrived. */
export const hasFailed = ({ kind, data }) =>
  kind === "run.failed" || (kind === "version.quarantined" && data?.verdict === "broken");

/** The state; `new` stands for what is neither good nor bad. */
export function eventState({ kind, data }) {
  if (kind === "version.checked") return OUTCOMES[data.outcome] ?? "new";
  if (kind === "trash.ended" && data.reason === "no_space") return "late";
  if (kind === "version.quarantined" && data.reason === "overtaken") return "new";
  if (hasFailed({ kind, data })) return "failed";
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

/** An event in a list: what happened, to what, and when. */
export function EventLine({ event, name, now }) {
  const state = eventState(event);
  return html`<li>
    <span class=${state}><${Icon} name=${state} isColoured /></span>
    <div class="grow">
      ${eventTitle(event)} <span class="dim">${eventDetail(event)}</span>
      ${name && html`<div class="cut sm"><a href=${link(["collections", event.collection_id])}>${name}</a></div>`}
    </div>
    <time datetime=${event.at} title=${exactTime(event.at)}>${relative(event.at, now)}</time>
  </li>`;
}
