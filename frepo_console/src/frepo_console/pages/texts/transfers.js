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
    storing: "The service stores it",
    interrupted: (share) => `The upload was interrupted at ${share}: choose the file again to go on`,
    otherFile: "This is another file: its name, its size or the time of its last change differs. Choose the right one.",
    ended: "The service has ended this upload. Send the file again.",
    chooseAgain: (name) => `Choose ${name} again`,
    discard: (name) => `Discard the upload of ${name}`,
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
      interrupted: "Interrupted",
    },
    progress: (name, share) => `${name}: ${share}`,
    moved: (moved, whole) => `${moved} of ${whole}`,
    speed: (bytes) => `${bytes}/s`,
    left: (time) => `${time} left`,
    remove: (name) => `Remove ${name} from this list`,
  },
};
