// What keeps a version: its pin, and the lock of its collection.

import { html } from "../../../lib/html.js";
import { date, exactTime } from "../../../lib/format.js";
import { Icon } from "../../../components/icons.js";
import { t } from "../../../texts/collection.js";

export const LockedUntil = ({ until, now }) =>
  html`<span class="badge" title=${exactTime(until)}><${Icon} name="lock" />${t.lock.until(date(until, now))}</span>`;

/** Why a version is pinned, and until when. */
export function PinOf({ version: { pinned_until: until, pin_reason: reason }, now }) {
  const text = [reason, until && t.versions_.pinnedUntil(date(until, now))].filter(Boolean).join(", ");
  return text && html`<div class="sm dim" title=${until ? exactTime(until) : undefined}>${text}</div>`;
}
