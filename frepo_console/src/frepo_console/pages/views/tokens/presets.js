// What a token may do, in the words of people: four presets, and everything else by its roles.

import { t } from "../../texts/tokens.js";

export const ADMINISTRATOR = "security.administrator";
const UPLOAD = "collections.upload_to_allowed_collections";
const LIST = "collections.list_versions_for_allowed_collections";

/** The roles of each preset. */
export const PRESETS = {
  send: [UPLOAD],
  both: [UPLOAD, LIST],
  read: ["collections.can_use_listing_endpoint", LIST],
  administrator: [ADMINISTRATOR],
};

/** The preset that a token has, or "custom". */
export function presetOf(roles) {
  if (roles.includes(ADMINISTRATOR)) return "administrator";
  if (roles.includes(UPLOAD) && roles.every((role) => PRESETS.both.includes(role)))
    return roles.includes(LIST) ? "both" : "send";
  const reads = new Set([...PRESETS.read, "collections.view_all_collections"]);
  if (roles.includes(LIST) && roles.every((role) => reads.has(role))) return "read";
  return "custom";
}

export function presetText(roles) {
  const preset = presetOf(roles);
  return preset === "custom" ? t.customRoles(roles.length) : t.presets[preset][0];
}

/** On what a token works: collections, all of them, or files with its tags. */
export function scopeText({ roles, collections, collections_count: number, restrictions }) {
  if (roles.includes(ADMINISTRATOR)) return t.everything;
  if (number === 1) return collections[0].name;
  if (number > 1) return t.andMore(collections[0].name, number - 1);
  if (restrictions.tags.length) return t.filesTagged(restrictions.tags.join(", "));
  return t.noCollection;
}
