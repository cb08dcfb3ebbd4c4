// The second copies: for each storage with some, how far behind they are, and what keeps them from being made.

import { html } from "../../lib/html.js";
import { count, relative, size } from "../../lib/format.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/copies.js";

export default function Copies({ copies }) {
  return html`<section class="card flush">
    <div class="sec"><h2>${t.title}</h2></div>
    <ul class="list">
      ${copies.map((one) => html`<${Row} key=${one.storage} copies=${one} />`)}
    </ul>
  </section>`;
}

function Row({ copies }) {
  const troubles = troublesOf(copies);
  const state =
    copies.late || copies.stopped > 0
      ? "overdue"
      : copies.behind > 0 || copies.known === false || troubles.length > 0
        ? "late"
        : "ok";
  const checked = [copies.compared_at && t.compared(relative(copies.compared_at)), t.checked(checkedAt(copies))];
  return html`<li class=${state}>
    <${Icon} name=${state} isColoured />
    <div class="grow">
      <div class="row wrap"><b>${copies.storage}</b><span class="fg">${waiting(copies)}</span></div>
      ${troubles.map((text) => html`<div class="sm">${text}</div>`)}
      <div class="sm dim">${checked.filter(Boolean).join(" · ")}</div>
    </div>
  </li>`;
}

function waiting({ behind, known, size: bytes, oldest_at: oldest, versions_with_one_copy: versions }) {
  if (known === false) return t.unknown;
  if (behind === 0) return t.complete;
  return t.behind(behind, count(behind), size(bytes), relative(oldest), count(versions));
}

function troublesOf({ late, stopped, damaged, state, skipped, storage }) {
  const texts = [];
  if (late) texts.push(t.late);
  if (state !== "ok") texts.push(t.states[state]);
  if (skipped) texts.push(t.skipped);
  if (stopped > 0)
    texts.push(t.stopped(count(stopped), `frepo storage:mirror --storage ${storage} --yes-delete ${stopped}`));
  if (damaged > 0) texts.push(t.damaged(count(damaged)));
  return texts;
}

/** When both sides were checked the last time; null if one never was. */
function checkedAt({ checked_at: second, first_checked_at: first }) {
  if (!second || !first) return null;
  return relative(second < first ? second : first);
}
