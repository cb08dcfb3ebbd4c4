// Collections: all of them, the worst first, with filters. It also opens one of them, and the form for a new one.

import { html, useState } from "../lib/html.js";
import { mayAddServer, useAccess } from "../lib/access.js";
import { useList, useNow, useOverview } from "../lib/data.js";
import { changeQuery, go, link } from "../lib/navigation.js";
import { ChartError, Empty, ErrorNote, Lazy, Note, Skeleton } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { useSizes } from "../components/state.js";
import { ListEnd, Table, useSelection } from "../components/table.js";
import { t } from "../texts/collections.js";
import { columnsFor } from "./collections/columns.js";
import { CsvButton } from "./collections/csv.js";
import { DeletedCollections } from "./collections/deleted.js";
import { Filters, filtersOf } from "./collections/filters.js";
import { SelectionBar } from "./collections/selection.js";

/** What is opened by the second part of the address instead of a collection. */
const DIALOGS = {
  new: () => import("./collections/new.js"),
  "new-server": () => import("./collections/new_server.js"),
};
const loadCollection = () => import("./collection.js");

export default function Collections({ route }) {
  const [, id, tab] = route.parts;
  if (id && !(id in DIALOGS))
    return html`<${Lazy} key=${id} load=${loadCollection} id=${id} tab=${tab} route=${route} />`;
  return html`<${List} query=${route.query} dialog=${id} />`;
}

function List({ query, dialog }) {
  const access = useAccess();
  const now = useNow();
  const filters = filtersOf(query);
  const list = useList("/collections", { query: filters });
  const overview = useOverview();
  const states = overview.data?.collections;
  const total = states?.total ?? null;
  const isFiltered = Object.entries(filters).some(([name, value]) => name !== "sort" && value.length > 0);
  return html`<${Head} filters=${filters} />
    <${Filters} filters=${filters} states=${states} total=${total} />
    ${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
    ${list.items === null && list.isSlow && !list.error && html`<div class="card"><${Skeleton} /></div>`}
    ${list.items?.length === 0 && html`<${Nothing} isFiltered=${isFiltered} filters=${filters} />`}
    <${Found} list=${list} filters=${filters} total=${isFiltered ? null : total} now=${now} />
    ${
      access.has("deleted-collections") &&
      access.may("collection.list_deleted") &&
      html`<${DeletedCollections} now=${now} />`
    }
    ${dialog && html`<${Lazy} load=${DIALOGS[dialog]} close=${() => go(["collections"])} />`}`;
}

const Head = ({ filters }) =>
  html`<header class="head">
    <h1>${t.menu.collections}</h1>
    <div class="row wrap"><${CsvButton} filters=${filters} /><${NewButton} data-key="n" /></div>
  </header>`;

function NewButton(props) {
  const access = useAccess();
  if (!access.may("collection.create")) return null;
  return html`${
      mayAddServer(access) &&
      html`<a class="btn" href=${link(["collections", "new-server"])}><${Icon} name="plus" />${t.newServer}</a>`
    }<a class="btn pri" href=${link(["collections", "new"])} ...${props}
      ><${Icon} name="plus" />${t.noCollections.create}</a
    >`;
}

/** The collections that were read, and what can be done with the selected ones. */
function Found({ list, filters, total, now }) {
  const items = list.items ?? [];
  const selection = useSelection(items.map((one) => one.id));
  const sizes = useSizes(items);
  const [result, setResult] = useState(/** @type {any} */ (null));
  const told = result && html`<${Result} ...${result} close=${() => setResult(null)} />`;
  if (items.length === 0) return told;
  return html`${told}
    <section class="card flush" aria-label=${t.menu.collections}>
      ${sizes.error && html`<${ChartError} error=${sizes.error} at=${sizes.at} retry=${sizes.retry} />`}
      <${Table}
        caption=${t.menu.collections}
        columns=${columnsFor(sizes.byId, now)}
        rows=${items}
        keyOf=${(one) => one.id}
        nameOf=${(one) => one.name}
        open=${(one) => go(["collections", one.id])}
        selection=${items.some(isChangeable) ? selection : undefined}
        sort=${filters.sort}
        sortBy=${(sort) => changeQuery({ sort })}
      />
      <${ListEnd} list=${list} total=${total} />
    </section>
    ${
      selection.keys.length > 0 &&
      html`<${SelectionBar}
        items=${items.filter((one) => selection.has(one.id))}
        clear=${selection.clear}
        reload=${list.reload}
        tell=${setResult}
      />`
    }`;
}

/** What has happened to the selected collections. */
const Result = ({ isWell, title, lines, close }) =>
  html`<${Note}
    state=${isWell ? "ok" : "failed"}
    title=${title}
    role="status"
    actions=${html`<button type="button" class="btn s" onClick=${close}>${t.close}</button>`}
    >${
      lines.length > 0 &&
      html`<ul>
        ${lines.map((line) => html`<li>${line}</li>`)}
      </ul>`
    }<//
  >`;

const isChangeable = ({ may }) => may.includes("collection.edit") || may.includes("collection.tokens");

function Nothing({ isFiltered, filters }) {
  if (!isFiltered)
    return html`<div class="card">
      <${Empty} icon="collections" title=${t.noCollections.title} text=${t.noCollections.text}><${NewButton} /><//>
    </div>`;
  const named = [...filters.state.map((state) => t.states[state]), ...filters.label].join(", ");
  return html`<div class="card">
    <${Empty}
      icon="search"
      title=${t.collectionsView.noMatch(filters.q)}
      text=${named && t.collectionsView.filter(named)}
    >
      <a class="btn" href=${link(["collections"])}>${t.clearFilters}</a>
    <//>
  </div>`;
}
