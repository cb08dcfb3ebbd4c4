// All that is known about an event: what was edited, before and after, and its other values.

import { html } from "../../lib/html.js";
import { exactTime } from "../../lib/format.js";
import { t } from "../../texts/events.js";
import { rowsOf } from "./describe.js";

export function Details({ event }) {
  const { edits, values } = rowsOf(event.data);
  const about = [
    [t.kind, event.kind],
    [t.when, exactTime(event.at)],
    [t.who, [event.actor, event.address].filter(Boolean).join(" ")],
    ["token", event.token],
    ["file", event.file_id],
  ].filter(([, value]) => value);
  return html`<div class="stack">
    ${
      edits.length > 0 &&
      html`<div class="scroll" role="region" tabindex="0" aria-label=${t.changes}>
        <table>
          <thead>
            <tr>
              <th>${t.field}</th>
              <th>${t.before}</th>
              <th>${t.after}</th>
            </tr>
          </thead>
          <tbody>
            ${edits.map(
              ([name, before, after]) =>
                html`<tr>
                  <td><code>${name}</code></td>
                  <td class="dim">${before}</td>
                  <td>${after}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    <dl class="keys sm">
      ${[...values, ...about].map(
        ([name, value]) =>
          html`<dt class="dim">${name}</dt>
            <dd><code>${value}</code></dd>`,
      )}
    </dl>
  </div>`;
}
