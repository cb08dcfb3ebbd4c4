// Where notifications are sent, and a test message to each.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { Problem, path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { ActionButton } from "../../components/action.js";
import { Loaded, Note } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/health.js";

const PATH = "/notification-targets";

export function Targets() {
  const targets = useResource(PATH, { every: 0 });
  return html`<section class="card flush" aria-label=${t.targets.title}>
    <div class="sec"><h2>${t.targets.title}</h2></div>
    <${Loaded} resource=${targets} lines=${2}
      >${({ items }) =>
        items.length
          ? html`<ul class="list">
              ${items.map((one) => html`<${Target} key=${one.name} target=${one} />`)}
            </ul>`
          : html`<div class="list-end">
              <${Note} state="late" title=${t.targets.none}>${t.targets.noneText}<//>
            </div>`}<//
    >
  </section>`;
}

function Target({ target }) {
  const access = useAccess();
  const [isSent, setSent] = useState(false);
  const test = async () => {
    setSent(false);
    const { delivered, error } = await send("POST", `${PATH}${path(target.name, "test")}`);
    if (!delivered) throw new Problem(502, { detail: error });
    setSent(true);
  };
  const facts = [target.kind, ...target.events, ...target.labels.map(t.targets.label), ...target.collections];
  return html`<li>
    <${Icon} name="events" />
    <div class="grow">
      <b>${target.name}</b>
      <div class="sm dim">${facts.join(" · ")}</div>
      ${isSent && html`<div class="sm ok" role="status"><span class="fg">${t.targets.sent}</span></div>`}
    </div>
    ${access.may("jobs.run") && html`<${ActionButton} run=${test}>${t.targets.test}<span class="vh"> ${target.name}</span><//>`}
  </li>`;
}
