// What the fire of each storage would cost. All contents are compared for it, so it is read when somebody asks.

import { html, useState } from "../../lib/html.js";
import { useResource } from "../../lib/data.js";
import { size } from "../../lib/format.js";
import { Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/health.js";

const HOUR = 3600;

export function Fires() {
  const [isOpen, setOpen] = useState(false);
  const resource = useResource(isOpen ? "/storages/check" : null, { every: HOUR });
  return html`<section class="card flush">
    <details class="sec" onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary><b>${t.fires}</b></summary>
      ${
        isOpen &&
        html`<${Loaded} resource=${resource} lines=${2}
          >${({ storages, lost }) =>
            html`<ul class="list">
              ${storages.map((one) => html`<${Fire} key=${one.storage} found=${one} />`)}
              ${lost.contents > 0 && html`<${Lost} lost=${lost} />`}
            </ul>`}<//
        >`
      }
    </details>
  </section>`;
}

function Fire({ found }) {
  const state = found.state !== "ok" ? "overdue" : found.only_here.contents ? "late" : "ok";
  return html`<li class=${state}>
    <${Icon} name=${state} isColoured />
    <div class="grow">
      <b>${found.storage}</b>
      <div>${found.only_here.contents ? t.fireCosts(amount(found.only_here)) : t.fireCostsNothing}</div>
      <div class="sm dim">${t.worth(found)}</div>
      ${found.state !== "ok" && html`<div class="sm fg">${t.storageGone}</div>`}
    </div>
  </li>`;
}

const Lost = ({ lost }) =>
  html`<li class="damaged">
    <${Icon} name="damaged" isColoured />
    <div class="grow"><b>${t.lost(amount(lost))}</b></div>
  </li>`;

const amount = (loss) => t.amount(loss, size(loss.size));
