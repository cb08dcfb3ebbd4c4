// An event in one line: what happened, to what and when, with the state whose shape and colour it has.

import { html } from "../lib/html.js";
import { exactTime, relative, size } from "../lib/format.js";
import { link } from "../lib/navigation.js";
import { inWords, t } from "../texts.js";
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
  "collection.problem": "problem",
  "collection.problem_ended": "ok",
  "collection.sender_changed": "late",
  "collection.senders_in_turn": "late",
  "token.shared": "late",
  "blob.damaged": "damaged",
  "blob.healed": "ok",
  "copy.damaged": "damaged",
  "blob.fell_back": "late",
  "mirror.late": "overdue",
  "mirror.recovered": "ok",
  "storage.full": "damaged",
  "storage.unavailable": "overdue",
  "storage.recovered": "ok",
  "job.failed": "overdue",
  "job.recovered": "ok",
};

const ANONYMOUS = "a client without a token";

/** What has happened, by kind. */
const TITLES = {
  "version.added": (e) => `Version ${e.version_number} received`,
  "version.refused": () => "Upload refused",
  "version.suspicious": (e) => `Version ${e.version_number} looks wrong`,
  "version.quarantined": (e) => `Version ${e.version_number} quarantined`,
  "version.kind_changed": (e) => `Version ${e.version_number} has another format`,
  "version.released": (e) => `Version ${e.version_number} released from quarantine`,
  "version.condemned": (e) => `Version ${e.version_number} found broken`,
  "version.unjudged": (e) => `Version ${e.version_number} could not be checked in time`,
  "version.evicted": (e) => `Version ${e.version_number} evicted`,
  "version.deleted": (e) => `Version ${e.version_number} deleted`,
  "version.restored": (e) => `Version ${e.version_number} restored from the trash`,
  "version.pinned": (e) => `Version ${e.version_number} pinned`,
  "version.unpinned": (e) => `Version ${e.version_number} unpinned`,
  "version.noted": (e) => `Note of version ${e.version_number} changed`,
  "version.checked": (e) => `Check of version ${e.version_number}: ${e.data.outcome}`,
  "version.downloaded": (e) => `Version ${e.version_number} downloaded`,
  "upload.aborted": () => "Upload broke off",
  "run.failed": () => "Backup job failed",
  "run.reported": () => "Backup job skipped",
  "trash.ended": (e) => `Version ${e.version_number} deleted for good${e.data.early ? ", before its time" : ""}`,
  "collection.created": () => "Collection created",
  "collection.edited": () => "Collection edited",
  "collection.deleted": () => "Collection deleted",
  "collection.restored": () => "Collection restored from the trash",
  "collection.moved": (e) => `Collection moved to ${e.data.storage}`,
  "collection.held": () => "Collection put on hold",
  "collection.hold_ended": () => "Hold of the collection ended",
  "collection.overdue": () => "Backup overdue",
  "collection.recovered": () => "Backup arrived again",
  "collection.full": () => "Collection full",
  "collection.problem": () => "Problem reported",
  "collection.problem_ended": () => "Problem ended",
  "collection.sender_changed": () => "Another sender",
  "collection.senders_in_turn": () => "Several hosts send in turn",
  "token.shared": () => "Several hosts use one token",
  "collection.access_granted": () => "Access granted",
  "collection.access_revoked": () => "Access removed",
  "file.added": () => "File uploaded",
  "file.edited": () => "File edited",
  "file.deleted": () => "File deleted",
  "file.downloaded": () => "File downloaded",
  "alias.created": () => "Alias created",
  "alias.edited": () => "Alias changed",
  "alias.deleted": () => "Alias deleted",
  "token.created": () => "Token created",
  "token.edited": () => "Token edited",
  "enrolment.created": () => "One-time code made",
  "enrolment.used": () => "Host enrolled",
  "enrolment.revoked": () => "One-time code revoked",
  "token.rotated": () => "Token rotated",
  "token.revoked": () => "Token revoked",
  "token.expired": () => "Token expired",
  "blob.damaged": () => "Damage found",
  "blob.healed": () => "Damage healed",
  "copy.damaged": () => "Second copy damaged",
  "mirror.late": () => "Second copies are late",
  "mirror.recovered": () => "Second copies are up to date again",
  "blob.fell_back": (e) => `Read from another copy than that in ${e.data.storage}`,
  "storage.full": () => "Storage full",
  "storage.unavailable": () => "Storage unavailable",
  "storage.recovered": () => "Storage works again",
  "storage.disputed": () => "Storage may belong to another database",
  "storage.adopted": () => "Storage adopted",
  "storage.promoted": ({ data }) =>
    data.storage ? `${data.storage} is the first storage now, instead of ${data.former}` : "Another first storage",
  "message.sent": (e) => e.data.title,
  "job.failed": (e) => `Job ${e.data.job} failed`,
  "job.recovered": (e) => `Job ${e.data.job} works again`,
};

const OUTCOMES = { good: "ok", broken: "failed" };

/** Whether a backup failed: its job, or a broken version arrived. */
export const hasFailed = ({ kind, data }) =>
  kind === "run.failed" || (kind === "version.quarantined" && data?.verdict === "broken");

/** The kinds of events that say what became of uploads and of jobs. */
export const OUTCOME_KINDS = [
  "version.added",
  "version.suspicious",
  "version.quarantined",
  "version.condemned",
  "version.released",
  "version.refused",
  "run.failed",
];

/**
 * What became of each upload and each job that failed, from events with the newest first: `{at, hasArrived, kind}`, of
 * which `kind` is "arrived", "suspicious", "failed", "refused", or empty. What is found out about a version later counts
 * on the day of its arrival, and what was found before a person released it does not count.
 */
export function outcomesOf(events) {
  const versions = new Map();
  const others = [];
  for (const event of events.toReversed()) {
    const key = event.version_number ? `${event.collection_id} ${event.version_number}` : event;
    const known = versions.get(key);
    const isLater = event.kind === "version.condemned" || event.kind === "version.released";
    if (event.kind === "version.refused") others.push({ at: event.at, kind: "refused", count: event.data?.count ?? 1 });
    else if (event.kind === "run.failed" && !known) others.push({ at: event.at, kind: "failed" });
    else if (known || !isLater) versions.set(key, after(known ?? { at: event.at, kind: "" }, event));
  }
  return [...versions.values(), ...others];
}

/** What became of a version, after one more event. One that newer ones have overtaken says nothing about the backups. */
function after(version, event) {
  const { kind, data } = event;
  if (kind === "version.added" || kind === "version.released") return { ...version, hasArrived: true, kind: "arrived" };
  if (kind === "version.condemned" || hasFailed(event)) return { ...version, kind: "failed" };
  return data?.reason === "overtaken" ? version : { ...version, kind: "suspicious" };
}

const ARRIVALS = ["version.added", "version.quarantined", "version.refused"];
const SOON = 3600 * 1000;

/**
 * Events with the newest first, those of one upload as one: that of its arrival, with the others as `parts`, such as what
 * its checks have found within an hour, and which versions were evicted for it.
 */
export function uploadsAsOne(events) {
  const keyOf = ({ collection_id: id }, number) => `${id} ${number ?? "refused"}`;
  const arrivals = new Map(
    events.filter(({ kind }) => ARRIVALS.includes(kind)).map((one) => [keyOf(one, one.version_number), one]),
  );
  const parts = new Map();
  for (const event of events) {
    const { kind, data, version_number: number } = event;
    // One event counts the refusals of a minute; the collection is full since the first one.
    const arrival = arrivals.get(keyOf(event, kind === "version.evicted" ? data.replaced_by : number));
    const isPart = kind in PART_TEXTS && arrival && Math.abs(timeOf(event) - timeOf(arrival)) < SOON;
    if (isPart) parts.set(event, arrival);
  }
  const grouped = Map.groupBy(parts.keys(), (event) => parts.get(event));
  return events.filter((one) => !parts.has(one)).map((one) => ({ ...one, parts: grouped.get(one) ?? [] }));
}

const timeOf = ({ at }) => new Date(at).getTime();

/** What a part of an upload adds to its line, by kind. */
const PART_TEXTS = {
  "collection.full": () => "collection full",
  "version.checked": (e) => `checked: ${e.data.outcome}`,
  "version.evicted": (e) => `version ${e.version_number} evicted`,
  "version.suspicious": () => "looks wrong",
  "version.kind_changed": () => "has another format",
};

/** "checked: good, version 3 evicted". */
export const partsText = ({ parts = [] }) => parts.map((one) => PART_TEXTS[one.kind](one)).join(", ");

/** The state of an upload: that of its worst part. */
export function worstState(event) {
  const states = [event, ...(event.parts ?? [])].map(eventState);
  return SEVERITY.find((state) => states.includes(state)) ?? states[0];
}

const SEVERITY = ["damaged", "failed", "overdue", "full", "problem", "suspicious", "late"];

/** The state; `new` stands for what is neither good nor bad. */
export function eventState({ kind, data }) {
  if (kind === "version.checked") return OUTCOMES[data.outcome] ?? "new";
  if (kind === "trash.ended" && data.reason === "no_space") return "late";
  if (kind === "version.quarantined" && data.reason === "overtaken") return "new";
  if (hasFailed({ kind, data })) return "failed";
  return STATES[kind] ?? "new";
}

/** "Version 214 received". A plug-in says itself what has happened; other unknown kinds are shown as they are named. */
export function eventTitle(event) {
  const text = TITLES[event.kind];
  if (text) return text(event);
  return event.data?.sentence?.replace(/\.$/, "") || event.kind.replace(/[._]/g, " ");
}

/** Who did it: the token's name, else its fingerprint, a job, a user of the command line. */
export const nameOfActor = ({ actor, actor_name: name }) => name ?? (actor === "anonymous" ? ANONYMOUS : actor);

/** What follows the title: the size, the reason, and who did it. */
export function eventDetail(event) {
  const { data } = event;
  const why = data.message || data.reason || data.error;
  const parts = [data.size && size(data.size), why && inWords(why), t.by(nameOfActor(event))];
  return parts.filter(Boolean).join(", ");
}

/** An event in a list: what happened, to what, and when. */
export function EventLine({ event, name, now }) {
  const state = worstState(event);
  return html`<li>
    <span class=${state}><${Icon} name=${state} isColoured /></span>
    <div class="grow">
      ${eventTitle(event)}${" "}
      <span class="dim">${[partsText(event), eventDetail(event)].filter(Boolean).join(", ")}</span>
      ${name && html`<div class="cut sm"><a href=${link(["collections", event.collection_id])}>${name}</a></div>`}
    </div>
    <time datetime=${event.at} title=${exactTime(event.at)}>${relative(event.at, now)}</time>
  </li>`;
}
