// The texts of uploads and downloads.

import { t as common } from "../texts.js";

export const t = {
  ...common,

  transfers: {
    title: "Uploads and downloads",
    choose: "Choose a file",
    retry: "Retry",
    cancelled: "Cancelled",
    retrying: "The connection was lost. It is tried again.",
    checking: "Comparing the SHA-256",
    checked: "Complete, the SHA-256 is right",
    hashing: "Computing the SHA-256",
    differs: "The service received other bytes than this browser sent. Delete them, and upload the file again.",
    damagedDownload: "The bytes that arrived are not those of the version. Download it again.",
    notWritten: (reason) => `The file cannot be written: ${reason}`,
    changed: "The content was changed meanwhile. Download it again.",
    count: (done, all, speed) => [`${done} of ${all} done`, speed && `${speed}/s`].filter(Boolean).join(", "),
    cancelAll: "Cancel all",
    cancelOne: (name) => `Cancel ${name}`,
    states: {
      waiting: "Waits",
      hashing: "Computing the SHA-256",
      running: "Running",
      retrying: "Tries again",
      checking: "Comparing",
      done: "Complete",
      failed: "Failed",
      cancelled: "Cancelled",
    },
    progress: (name, share) => `${name}: ${share}`,
    moved: (moved, whole) => `${moved} of ${whole}`,
    speed: (bytes) => `${bytes}/s`,
    left: (time) => `${time} left`,
    remove: (name) => `Remove ${name} from this list`,
  },
};
