// The storages: which one is in use, its free space, and whether it works.

import { html } from "../../lib/html.js";
import { useResource } from "../../lib/data.js";
import { exactTime, relative, size } from "../../lib/format.js";
import { Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { Tag } from "../../components/state.js";
import { t } from "../../texts/health.js";

const STATES = { ok: "ok", full: "full", unavailable: "overdue" };

export function Storages() {
  const resource = useResource("/storages", { every: 60 });
  const isUsed = (one) => one.current || one.free_space !== null || one.damaged > 0 || one.state !== "ok";
  return html`<section class="card flush">
    <div class="sec"><h2>${t.storages}</h2></div>
    <${Loaded} resource=${resource} lines=${3}
      >${({ items }) =>
        html`<${Rows} items=${items.filter(isUsed)} isUsed /><${Unused}
            items=${items.filter((one) => !isUsed(one))}
          />`}<//
    >
  </section>`;
}

const Rows = ({ items, isUsed = false }) =>
  html`<ul class="list">
    ${items.map((one) => html`<${Row} key=${one.name} storage=${one} isUsed=${isUsed} />`)}
  </ul>`;

const Unused = ({ items }) =>
  items.length > 0 &&
  html`<details class="sec">
    <summary>${t.unusedStorages(items.length)}</summary>
    <${Rows} items=${items} />
  </details>`;

function Row({ storage, isUsed }) {
  const state = isUsed ? STATES[storage.state] : "new";
  const parts = [
    isUsed ? t.storageStates[storage.state] : t.unused,
    storage.since && t.since(relative(storage.since)),
    storage.free_space !== null && t.free(size(storage.free_space)),
    storage.package ?? t.notInstalled,
  ].filter(Boolean);
  return html`<li class=${state}>
    <${Icon} name=${state} isColoured />
    <div class="grow">
      <div class="row wrap"><b>${storage.name}</b>${storage.current && html`<${Tag}>${t.current}<//>`}</div>
      <div class="sm dim" title=${storage.since ? exactTime(storage.since) : undefined}>${parts.join(" · ")}</div>
      ${
        storage.damaged > 0 &&
        html`<div class="sm damaged"><span class="fg">${t.damagedContents(storage.damaged)}</span></div>`
      }
    </div>
  </li>`;
}
