// The state of a collection, always as shape and word; its labels; and its sizes as small bars.

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

/** Bars without axes, in the height of a line of text. A value of null leaves a gap. */
export function Sparkline({ values, label }) {
  const most = Math.max(...values, 1);
  const width = values.length * 4 - 1;
  return html`<svg class="spark" viewBox=${`0 0 ${width} 14`} preserveAspectRatio="none" fill="currentColor" role="img" aria-label=${label}>
    ${values.map((value, index) => {
      const height = Math.max(1, (value / most) * 14);
      return html`<rect x=${index * 4} y=${14 - height} width="3" height=${height} rx=".5" />`;
    })}
  </svg>`;
}
