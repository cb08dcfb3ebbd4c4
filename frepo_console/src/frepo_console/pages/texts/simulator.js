// The texts of the simulator of retention.

import { plural } from "../texts.js";

export const t = {
  title: "Retention simulator",
  what: "Which versions",
  own: "This collection",
  imagined: "Imagined schedule",
  every: "One every",
  growth: "% a month",
  duration: "For",
  keeps: (kept, all, bytes) => `Keeps ${kept} of ${all} versions, ${bytes}.`,
  now: (versions, bytes) => `Now ${versions}, ${bytes}.`,
  day: (versions) =>
    versions.length
      ? versions
          .map((one) => `version ${one.number}, ${one.kept ? `kept ${one.rules.join(", ")}` : "evicted"}`)
          .join("; ")
      : "no version",
  kinds: { often: "last, hourly, daily", weekly: "weekly", monthly: "monthly, yearly", evicted: "evicted" },
  refused: (number) => `${plural(number, "upload is", "uploads are")} refused`,
  goes: (number, bytes) => `The next upload would evict ${plural(number, "version", "versions")}, ${bytes}`,
  nothingGoes: "The next upload would evict nothing.",
  needed: "Storage needed",
  neededLabel: (last, peak) => `${last} at the end, at most ${peak}`,
  dashed: "dashed: with the trash",
  dotted: (size) => `dotted: the limit, ${size}`,
};
