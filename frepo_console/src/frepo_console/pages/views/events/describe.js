// An event in one line: its title, the state whose shape and colour it has, and what it is about.

import { worstState } from "../../components/event.js";
import { size } from "../../lib/format.js";
import { inWords } from "../../texts.js";
import { t } from "../../texts/events.js";

/** The groups of kinds that can be chosen, with their patterns. */
export const GROUPS = {
  trouble: [
    "version.refused",
    "version.suspicious",
    "version.quarantined",
    "version.condemned",
    "version.unjudged",
    "upload.aborted",
    "run.failed",
    "collection.overdue",
    "collection.full",
    "collection.problem",
    "blob.damaged",
    "blob.fell_back",
    "copy.damaged",
    "mirror.late",
    "storage.*",
    "job.failed",
  ],
  version: ["version.*", "upload.*", "run.*", "trash.*"],
  collection: ["collection.*"],
  file: ["file.*", "alias.*"],
  token: ["token.*", "enrolment.*"],
  upkeep: ["job.*", "message.*", "storage.*", "blob.*", "copy.*", "mirror.*"],
};

/** The old names of values, as in `frepo_core.plugins.subscriber`: such a value is there twice. */
const OLD_KEYS = {
  filename: "name",
  strategyOptions: "strategy_options",
  maxBackupsCount: "versions",
  maxOneVersionSize: "version_size",
  maxCollectionSize: "total_size",
  minRetention: "min_retention",
  minVersionSize: "min_version_size",
  maxShrinkPercent: "max_shrink_percent",
  onSuspicious: "on_suspicious",
  expectedEvery: "expected_every",
  requestedName: "requested_name",
  expires: "expires_at",
  types: "mime_types",
  maxAllowedFileSize: "max_file_size",
  addresses: "ip_addresses",
  userAgentsCount: "user_agents_count",
};

const REMOVED = new Set(["evicted", "deleted", "revoked", "expired"]);
const ICONS = {
  version: "clock",
  upload: "clock",
  run: "clock",
  trash: "trash",
  collection: "collections",
  file: "files",
  alias: "files",
  token: "tokens",
  enrolment: "tokens",
  job: "health",
  message: "more",
  storage: "health",
  blob: "health",
};

/** `{state}` or `{icon}`: what is wrong or good has a state, everything else the icon of what it is about. */
export function signOf(event) {
  const state = worstState(event);
  if (state !== "new") return { state };
  const [about, what] = event.kind.split(".");
  return { icon: REMOVED.has(what) ? "trash" : (ICONS[about] ?? "more") };
}

/** The size, the reason, the name: the short parts of the data that people look for. */
export function detailOf({ data, token, version_number: version }) {
  // A version has the name of its collection, which is shown anyway.
  const name = version ? "" : (data.name ?? data.after?.name ?? "");
  const why = data.message ?? data.reason ?? data.error ?? data.problem;
  const parts = [
    name,
    Number.isInteger(data.size) && size(data.size),
    why && inWords(why),
    data.count > 1 && t.times(data.count),
    !name && !version && token,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Who did it: the token's name, else its fingerprint, a job, a user of `frepo`. */
export const actorOf = (event) => event.actor_name ?? (event.actor === "anonymous" ? t.anonymous : event.actor);

/** The rows of the table of an event: `[name, before, after]` of an edit, `[name, value]` else. */
export function rowsOf(data) {
  const names = Object.keys(data).filter((name) => name !== "before" && name !== "after");
  const [before, after] = [data.before, data.after].map(withoutOldKeys);
  const edited = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return {
    edits: edited.map((name) => [name, textOf(before[name]), textOf(after[name])]),
    values: names.map((name) => [name, textOf(data[name])]),
  };
}

/** The values that an edit changed, each under its newest name. A text is that of a note. */
function withoutOldKeys(values) {
  if (typeof values === "string") return { note: values };
  return Object.fromEntries(Object.entries(values ?? {}).filter(([name]) => !(OLD_KEYS[name] in values)));
}

function textOf(value) {
  if (value === undefined || value === null || value === "") return t.nothing;
  if (Array.isArray(value)) return value.length ? value.map(textOf).join(", ") : t.nothing;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
