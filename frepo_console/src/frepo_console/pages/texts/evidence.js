// The texts of the report about restores.

import { plural } from "../texts.js";

export const t = {
  title: "Evidence",
  since: "From",
  until: "Until",
  show: "Show",
  save: { html: "Page to print", csv: "CSV", json: "JSON" },
  known: (time) => `Events are known since ${time}. Nothing before them is counted.`,
  fleet: "A restore of everything",
  fleetTakes: (time) => `It would take ${time}, all storages at the same time.`,
  fleetUnknown: "How long it would take cannot be said: a storage has no good restore test.",
  ofStorage: ({ collections, proven }, size, rate) =>
    [
      `${plural(collections, "collection", "collections")}, ${size}`,
      `${proven} restored in a test`,
      rate && `${rate} a second`,
    ]
      .filter(Boolean)
      .join(" · "),
  unknown: "not known",
  collections: "Collections",
  none: "There is no collection",
  noneText: "A report is about collections with backups.",
  columns: { name: "Collection", proven: "Last proven restore", nights: "Good of expected", gaps: "Newest gap" },
  never: "never",
  took: (time, rate) => `took ${time}${rate ? `, ${rate} a second` : ""}`,
  deleted: "its version was deleted since",
  nights: (good, expected) => `${good} of ${expected}`,
  unexpected: (number) => `none expected, ${number} arrived`,
  gap: (from, to, missed) => `${from} to ${to}: ${missed} missed`,
  locks: "Locks",
  noLocks: "No lock was tried: nothing is locked.",
  lockBroken: (what) => `Not kept: ${what}`,
  lockProven: (time) => `refused to break a lock ${time}`,
  lockNever: "was never proven",
  lockWeak: "cannot keep locked versions against who can write to it",
  acts: "Released, deleted and given back by people",
  noActs: "Nothing in this time.",
};
