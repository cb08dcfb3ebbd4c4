// The state of a collection, always as shape and word.

import { html } from "../lib/html.js";
import { t } from "../texts.js";
import { Icon } from "./icons.js";

/** The states, the worst first. */
export const STATES = ["damaged", "overdue", "full", "suspicious", "late", "new", "ok"];

/** The states that need somebody. */
export const BAD_STATES = STATES.slice(0, 4);

export const StateIcon = ({ state, label = t.states[state] }) => html`<${Icon} name=${state} label=${label} isColoured />`;

export const StateBadge = ({ state, text = t.states[state] }) =>
  html`<span class=${`badge ${state}`}><${Icon} name=${state} />${text}</span>`;

export const Tag = ({ children }) => html`<span class="tag">${children}</span>`;
