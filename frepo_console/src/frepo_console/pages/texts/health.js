// The texts of the view Health.

import { plural } from "../texts.js";

export const t = {
  good: "The service works",
  bad: (number) => `${plural(number, "check has", "checks have")} found problems`,
  failing: (number) => `${plural(number, "job", "jobs")} failed.`,
  damaged: (number) => `${plural(number, "content", "contents")} damaged.`,
  tabs: { "": "State", evidence: "Evidence", settings: "Settings", plugins: "Plug-ins" },
  tabsLabel: "Parts of the view",
  checks: "Checks",
  checkNames: {
    database: "Database",
    storage: "Storage",
    blobs: "Stored contents",
    worker: "Worker",
    jobs: "Jobs",
    trash: "Trash",
    collections: "Collections",
    copies: "Second copies",
    compact: "Compact storage",
    locks: "Locks",
    collection_problems: "Problems that plug-ins report",
  },
  /** The name of a check; those of further storages end with the name of the storage. */
  checkName: (name) => {
    const [, kind, storage] = name.match(/^(storage|trash)_(.+)$/) ?? [];
    if (kind) return kind === "storage" ? `Storage ${storage}` : `Trash in ${storage}`;
    const words = name.replaceAll("_", " ");
    return t.checkNames[name] ?? words[0].toUpperCase() + words.slice(1);
  },
  /** A sentence of a check about damage, which is listed on the same page. */
  problem: (text) =>
    text.replace(/^(\d+) blobs? (?:is|are) damaged, storage:verify lists them$/, (_, number) =>
      Number(number) === 1 ? "1 content is damaged, see below" : `${number} contents are damaged, see below`,
    ),
  targets: {
    title: "Notifications",
    none: "Nobody is told when a backup fails",
    noneText: "Set notify.targets to send mail, chat messages or webhooks.",
    label: (name) => `label ${name}`,
    test: "Send a test",
    sent: "The test message was delivered",
  },
  damage: "Damage",
  noDamage: "No damaged content is known",
  noDamageText: "The job verify reads all contents again, each month.",
  found: (time) => `found ${time}`,
  version: (number) => `version ${number}`,
  usedBy: (number) => plural(number, "use", "uses"),
  storages: "Storages",
  current: "new contents go here",
  free: (size) => `${size} free`,
  notInstalled: "its package is not installed",
  unused: "not in use",
  unusedStorages: (number) => `${number} more that can be used`,
  storageStates: { ok: "works", full: "full", unavailable: "unavailable" },
  since: (time) => `since ${time}`,
  damagedContents: (number) => plural(number, "damaged content", "damaged contents"),
  fires: "If a storage burns",
  fireCosts: (amount) => `If it burns, ${amount} are lost: no other storage that works can decode them.`,
  fireCostsNothing: "If it burns, nothing is lost: the others can decode all contents.",
  storageGone: "It does not work now. What only it has cannot be read.",
  worth: ({ promised, decodable, read }) =>
    `${plural(promised, "content belongs", "contents belong")} here; ${decodable} of them can be decoded, ${read} were read within 30 days`,
  amount: ({ contents, versions, files, trash }, bytes) => {
    const users = [
      versions && plural(versions, "version", "versions"),
      files && plural(files, "file", "files"),
      trash && `${trash} in the trash`,
    ].filter(Boolean);
    return `${plural(contents, "content", "contents")} (${[bytes, ...users].join(", ")})`;
  },
  lost: (amount) => `No storage can decode ${amount} any more.`,
  jobs: "Jobs",
  jobsFine: (number, shown) => (shown ? `${number} other jobs fine` : `All ${number} jobs fine`),
  checksFine: (number, shown) => (shown ? `${number} other checks fine` : `All ${number} checks fine`),
  neverRun: "has not run yet",
  next: (time) => `next ${time}`,
  every: (time) => `every ${time.replace(/^1 /, "")}`,
  off: "off",
  runNow: "Run now",
  requested: "Requested",
  running: "Running",
  history: "History",
  historyOf: (name) => `History of ${name}`,
  outcomes: { good: "done", failed: "failed", interrupted: "interrupted", lost: "lost" },
  by: (cause) => (cause === "schedule" ? "by schedule" : `requested by ${cause}`),
  took: (time) => `took ${time}`,
  seconds: (value) => (value === 1 ? "1 second" : `${value} seconds`),
  noRuns: "No run in the last 90 days",
  searchSettings: "Search settings",
  noSetting: "No setting matches",
  onlyChanged: "Only those that are set",
  setting: "Setting",
  value: "Value",
  source: "From",
  sources: { default: "default", ini: "ini file", environment: "environment" },
  standard: (value) => `default: ${value}`,
  disabled: "switched off",
  offers: "Offers",
  plugin: "Plug-in",
};
