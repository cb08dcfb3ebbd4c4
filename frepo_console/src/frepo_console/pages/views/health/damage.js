// The damaged contents: what uses them, and what to do.

import { html } from "../../lib/html.js";
import { exactTime, relative, size } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { Empty, Loaded } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/health.js";

export const Damage = ({ resource }) =>
  html`<section class="card flush">
    <div class="sec"><h2>${t.damage}</h2></div>
    <${Loaded} resource=${resource} lines=${3}
      >${({ items }) =>
        items.length
          ? html`<ul class="list">
              ${items.map((one) => html`<${Row} key=${one.sha256} damage=${one} />`)}
            </ul>`
          : html`<${Empty} icon="ok" title=${t.noDamage} text=${t.noDamageText} />`}<//
    >
  </section>`;

function Row({ damage }) {
  const { versions, files, used_by: uses } = damage;
  const hidden = uses - versions.length - files.length;
  return html`<li class="damaged">
    <${Icon} name="damaged" label=${common.states.damaged} isColoured />
    <div class="grow stack">
      <div>
        ${versions.map(
          (one) =>
            html`<div>
              <a class="name" href=${link(["collections", one.collection_id])}>${one.collection_name}</a
              >${" "}${t.version(one.number)}
            </div>`,
        )}
        ${files.map((name) => html`<div><a class="name" href=${link(["files", name])}>${name}</a></div>`)}
        ${hidden > 0 && html`<div class="sm dim">+ ${t.usedBy(hidden)}</div>`}
        <div class="sm dim">
          ${size(damage.size)} · ${damage.storage}${" · "}<time
            datetime=${damage.found_at}
            title=${exactTime(damage.found_at)}
            >${t.found(relative(damage.found_at))}</time
          >
        </div>
      </div>
      <p class="sm">
        ${damage.advice.split(/'([^']+)'/).map((part, place) => (place % 2 ? html`<code>${part}</code>` : part))}
      </p>
    </div>
  </li>`;
}
