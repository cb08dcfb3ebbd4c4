// What is installed, and the settings in force.

import { html } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { useResource } from "../../lib/data.js";
import { changeQuery } from "../../lib/navigation.js";
import { Empty, Loaded, NoPermission } from "../../components/feedback.js";
import { Check } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { Tag } from "../../components/state.js";
import { Table } from "../../components/table.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/health.js";

export function Settings({ query }) {
  const mayView = useAccess().may("settings.view");
  const resource = useResource(mayView ? "/settings" : null, { every: 0 });
  if (!mayView) return html`<${NoPermission} action="settings.view" />`;
  const text = query.get("q") ?? "";
  const isChanged = query.get("set") === "1";
  const matches = (one) =>
    (!isChanged || one.source !== "default") &&
    `${one.name} ${one.variable} ${one.description}`.toLowerCase().includes(text.toLowerCase());
  return html`<div class="row wrap" role="search">
      <div class="search">
        <${Icon} name="search" /><input
          class="in"
          type="search"
          data-search
          aria-label=${t.searchSettings}
          placeholder=${t.searchSettings}
          value=${text}
          onInput=${(event) => changeQuery({ q: event.target.value }, { isTyping: true })}
        />
      </div>
      <${Check} label=${t.onlyChanged} value=${isChanged} change=${(value) => changeQuery({ set: value ? "1" : "" })} />
    </div>
    <section class="card flush" aria-label=${t.tabs.settings}>
      <${Loaded} resource=${resource} lines=${10}
        >${({ items }) => {
          const found = items.filter(matches);
          return found.length
            ? html`<${Table}
                caption=${t.tabs.settings}
                columns=${COLUMNS}
                rows=${found}
                keyOf=${(one) => one.name}
                nameOf=${(one) => one.name}
              />`
            : html`<${Empty} icon="search" title=${t.noSetting} />`;
        }}<//
      >
    </section>`;
}

const COLUMNS = [
  {
    title: t.setting,
    className: "main",
    cell: (one) =>
      html`<div>
        <b>${one.name}</b>
        <div class="sm dim">${one.description}</div>
      </div>`,
  },
  {
    title: t.value,
    label: t.value,
    cell: (one) =>
      html`${
        one.value ? html`<span class="name mono">${one.value}</span>` : html`<span class="faint">${common.none}</span>`
      }${
        one.source !== "default" &&
        !one.secret &&
        html`<div class="sm faint">${t.standard(one.default || common.none)}</div>`
      }`,
  },
  {
    title: t.source,
    label: t.source,
    cell: (one) =>
      html`<span class=${one.source === "default" ? "faint" : ""}>${t.sources[one.source] ?? one.source}</span>
        <div class="sm faint">${one.package}</div>`,
  },
];

export function Plugins() {
  const mayView = useAccess().may("settings.view");
  const resource = useResource(mayView ? "/plugins" : null, { every: 0 });
  if (!mayView) return html`<${NoPermission} action="settings.view" />`;
  return html`<section class="card flush" aria-label=${t.tabs.plugins}>
    <${Loaded} resource=${resource} lines=${8}
      >${({ items }) =>
        html`<${Table}
          caption=${t.tabs.plugins}
          columns=${PLUGIN_COLUMNS}
          rows=${items}
          keyOf=${(one) => one.name}
          nameOf=${(one) => one.name}
        />`}<//
    >
  </section>`;
}

const PLUGIN_COLUMNS = [
  {
    title: t.plugin,
    className: "main",
    cell: (one) =>
      html`<div>
        <b>${one.name}</b> ${one.disabled && html`<${Tag}>${t.disabled}<//>`}
        <div class="sm dim">${one.distribution} ${one.version}</div>
      </div>`,
  },
  {
    title: t.offers,
    cell: (one) =>
      html`<ul>
        ${one.offers.map(
          (offer) =>
            html`<li>
              <span class=${offer.used ? "" : "faint"}>${offer.kind} <b>${offer.name}</b></span
              >${" "}<span class="sm dim">${offer.summary}${!offer.used && ` (${t.unused})`}</span>
            </li>`,
        )}
      </ul>`,
  },
];
