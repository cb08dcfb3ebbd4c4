// The roles of a token in a few words.

import { t } from "../texts/collection.js";

const UPLOAD = "collections.upload_to_allowed_collections";
const LIST = "collections.list_versions_for_allowed_collections";
const DELETE = "collections.delete_versions_for_allowed_collections";

/** What a token with these roles may do in its collections. */
export function rightsOf(roles) {
  if (roles.includes("security.administrator")) return t.rights.administrator;
  const found = [
    [UPLOAD, t.rights.send],
    [LIST, t.rights.read],
    [DELETE, t.rights.delete],
  ].filter(([role]) => roles.includes(role));
  return found.length ? found.map(([, text]) => text).join(", ") : t.rights.other(roles.length);
}
