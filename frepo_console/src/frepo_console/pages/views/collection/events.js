// What happened to a collection, newest first.

import { html } from "../../lib/html.js";
import { useList, useReload } from "../../lib/data.js";
import { Empty, Loaded } from "../../components/feedback.js";
import { ListEnd } from "../../components/table.js";
import { t } from "../../texts.js";
import { EventLine, uploadsAsOne } from "../../components/event.js";

export function Events({ collection, changes, now }) {
  const list = useList("/events", { query: { collection: collection.id } });
  useReload(list, changes);
  return html`<${Loaded} resource=${{ ...list, data: list.items }}>
    ${(items) =>
      items.length
        ? html`<section class="card flush">
            <ul class="list">
              ${uploadsAsOne(items).map((event) => html`<${EventLine} key=${event.position} event=${event} now=${now} />`)}
            </ul>
            <${ListEnd} list=${list} />
          </section>`
        : html`<div class="card"><${Empty} icon="events" title=${t.noEvents} /></div>`}
  <//>`;
}
