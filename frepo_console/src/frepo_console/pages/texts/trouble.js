// The texts of the banners that say what is wrong with a collection.

import { t as collection } from "./collection.js";

export const t = {
  ...collection,

  banner: {
    damaged: (numbers) =>
      numbers.length === 0
        ? "A version cannot be read"
        : numbers.length === 1
          ? `Version ${numbers[0]} cannot be read`
          : `Versions ${numbers.join(", ")} cannot be read`,
    repair: (number) => `Upload version ${number} again`,
    jobFailed: "The backup job failed",
    seeRun: "See what it printed",
    broken: (number) => `Version ${number} is broken`,
    suspicious: (number) => `Version ${number} looks wrong`,
    full: (detail) => `The last upload was refused: ${detail}`,
    reported: (plugin, since) => `Reported by the plug-in ${plugin} since ${since}. It ends when the plug-in says so.`,
    changeLimits: "Change the limits",
    therefore: (absence) => `Therefore: ${absence[0].toLowerCase()}${absence.slice(1)}.`,
    seeRuns: "See what its job reported",
    seeSending: "See how it is sent",
  },
};
