// The texts about one version: all that is known about it, and the comparison with another one.

import { t as collection } from "./collection.js";

export const t = {
  ...collection,

  panel: {
    title: (number, name) => `Version ${number} of ${name}`,
    sender: "Sent by",
    from: (address) => `from ${address}`,
    kind: "Kind",
    copies: "Copies",
    copiesOf: (present, wanted) => `${present} of ${wanted}`,
    noReason: "without a reason",
    events: "What happened",
    restore: "Restore it on a server",
    copyCommand: "Copy command",
    download: "Download",
  },

  compare: {
    title: (number) => `Compare version ${number}`,
    good: "the newest good one",
    noneGood: "No version is good: there is nothing to compare it with.",
    reason: "Reason",
    lastLines: (number) => `Last lines of version ${number}`,
    unread: {
      empty: "There are none.",
      large: "It is compressed and too large to unpack here.",
      binary: "They are no text.",
    },
  },
};
