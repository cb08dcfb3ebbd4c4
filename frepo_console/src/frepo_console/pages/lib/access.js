// What the token may do. The service says it; what it would refuse is not offered.

import { createContext, useContext, useMemo } from "./html.js";
import { durationSeconds } from "./format.js";

/** The answer of `GET /api/v1`. */
export const About = createContext(/** @type {AboutService} */ (/** @type {unknown} */ (null)));

export class Access {
  constructor(about) {
    this.actions = new Set(about.may);
    this.features = new Set(about.features);
    this.fingerprint = about.token.fingerprint;
    this.trashSeconds = durationSeconds(about.trash_keep);
  }

  /** When the trash ends what is moved there now, null if the service has no trash. */
  get trashEnds() {
    return this.trashSeconds && new Date(Date.now() + this.trashSeconds * 1000);
  }

  /** Whether the token may do this at all. `may` of a collection says whether it may there. */
  may(action) {
    return this.actions.has(action);
  }

  /** Whether the API of this service has a resource, such as `jobs`. */
  has(feature) {
    return this.features.has(feature);
  }

  /** How large files are sent in parts, see `upload`: null if the service cannot take them so. */
  inParts(metadata) {
    return this.has("uploads") ? { token: this.fingerprint, metadata } : null;
  }
}

/** Whether the token may make a collection, and a token that sends to it. */
export const mayAddServer = (access) =>
  ["collection.create", "token.generate", "collection.tokens"].every((action) => access.may(action));

export function useAccess() {
  const about = useContext(About);
  return useMemo(() => new Access(about), [about]);
}
