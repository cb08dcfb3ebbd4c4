// What the token may do. The service decides; the console only does not offer what would be refused.

import { createContext, useContext, useMemo } from "./html.js";
import { durationSeconds } from "./format.js";

/** The answer of `GET /api/v1`. */
export const About = createContext(null);

const ADMINISTRATOR = "security.administrator";
const MODIFY_ANY = "collections.modify_any_collection_regardless_if_token_was_allowed_by_collection";

// The roles of which one is needed for an action, next to that of the administrator. Empty: every token may.
const ROLES = {
  "overview.view": ["metrics.view"],
  "collections.list": ["collections.can_use_listing_endpoint"],
  "collections.create": ["collections.create_new"],
  "collections.edit": ["collections.modify_details_of_allowed_collections", MODIFY_ANY],
  "collections.delete": ["collections.delete_allowed_collections", MODIFY_ANY],
  "collections.access": ["collections.manage_tokens_in_allowed_collections"],
  "collections.unlimited": ["collections.allow_infinite_limits"],
  "versions.list": ["collections.list_versions_for_allowed_collections"],
  "versions.upload": ["collections.upload_to_allowed_collections"],
  "versions.delete": ["collections.delete_versions_for_allowed_collections"],
  "versions.pin": ["collections.pin_versions_in_allowed_collections"],
  "trash.view": ["collections.restore_from_trash_in_allowed_collections"],
  "trash.restore": ["collections.restore_from_trash_in_allowed_collections"],
  "files.list": ["view.can_use_listing_endpoint_at_all"],
  "files.upload": ["upload.images", "upload.videos", "upload.documents", "upload.backup", "upload.all"],
  "files.edit": ["security.overwrite"],
  "files.delete": ["deletion.all_files_including_protected_and_unprotected"],
  "aliases.manage": ["aliases.manage"],
  "tokens.list": ["security.list_tokens"],
  "tokens.create": ["security.generate_tokens"],
  "tokens.revoke": ["security.revoke_tokens"],
  "events.view": ["events.view"],
  "jobs.view": ["jobs.view"],
  "jobs.run": ["jobs.run"],
  "settings.view": ["settings.view"],
};
const CHANGES = /\.(create|edit|delete|access|upload|pin|restore|manage|revoke|run)$/;

export class Access {
  constructor(about) {
    this.roles = new Set(about.token.roles);
    this.features = new Set(about.features);
    this.isReadOnly = about.read_only;
    this.trashSeconds = durationSeconds(about.trash_keep);
  }

  /** When the trash ends what is moved there now, null if the service has no trash. */
  get trashEnds() {
    return this.trashSeconds && new Date(Date.now() + this.trashSeconds * 1000);
  }

  /** Who may only delete, or only restore, cannot delete for good. */
  get mayEndTrash() {
    return this.may("trash.restore") && this.may("versions.delete");
  }

  /** Whether the token's roles allow an action of `ROLES`. Nothing is changed while the service is read-only. */
  may(action) {
    if (this.isReadOnly && CHANGES.test(action)) return false;
    return this.roles.has(ADMINISTRATOR) || ROLES[action].some((role) => this.roles.has(role));
  }

  /** Whether the API of this service has a resource, such as `jobs`. */
  has(feature) {
    return this.features.has(feature);
  }
}

/** The roles of which one is needed for an action. */
export const rolesFor = (action) => ROLES[action];

export function useAccess() {
  const about = useContext(About);
  return useMemo(() => new Access(about), [about]);
}
