// Collections: all of them, the worst first, with filters. It also opens one of them, and the form for a new one.

import { html } from "../lib/html.js";
import { useAccess } from "../lib/access.js";
import { useList, useNow, useResource } from "../lib/data.js";
import { count, exactTime, relative, size } from "../lib/format.js";
import { changeQuery, go, link } from "../lib/navigation.js";
import { ChartError, Empty, ErrorNote, Lazy, Skeleton } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { STATES, Sparkline, StateBadge, Tag, reason, useSizes } from "../components/state.js";
import { ListEnd, Table, useSelection } from "../components/table.js";
import { t } from "../texts.js";
import { CsvButton } from "./collections/csv.js";
import { DeletedCollections } from "./collections/deleted.js";
import { Filters, filtersOf } from "./collections/filters.js";
import { NewCollection } from "./collections/new.js";
import { SelectionBar } from "./collections/selection.js";

const loadCollection = () => import("./collection.js");

export default function Collections({ route }) {
  const [, id, tab] = route.parts;
  if (id && id !== "new") return html`<${Lazy} key=${id} load=${loadCollection} id=${id} tab=${tab} route=${route} />`;
  return html`<${List} query=${route.query} isNew=${id === "new"} />`;
}

function List({ query, isNew }) {
  const access = useAccess();
  const now = useNow();
  const filters = filtersOf(query);
  const list = useList("/collections", { query: filters });
  const overview = useResource(access.may("metrics.view") ? "/overview" : null, { every: 60 });
  const items = list.items ?? [];
  const selection = useSelection(items.map((one) => one.id));
  const sizes = useSizes(items);
  const states = overview.data?.collections;
  const total = states ? STATES.reduce((sum, state) => sum + states[state], 0) : null;
  const isFiltered = Boolean(filters.q || filters.state.length || filters.label.length || filters.strategy);
  return html`<header class="head">
      <h1>${t.menu.collections}</h1>
      <div class="row">
        <${CsvButton} filters=${filters} />
        ${
          access.may("collection.create") &&
          html`<a class="btn pri" data-key="n" href=${link(["collections", "new"])}
            ><${Icon} name="plus" />${t.collectionsView.new}</a
          >`
        }
      </div>
    </header>
    <${Filters} filters=${filters} states=${states} total=${total} />
    ${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
    ${list.items === null && list.isSlow && !list.error && html`<div class="card"><${Skeleton} /></div>`}
    ${list.items?.length === 0 && html`<${Nothing} isFiltered=${isFiltered} filters=${filters} />`}
    ${
      items.length > 0 &&
      html`<section class="card flush" aria-label=${t.menu.collections}>
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
        <${ListEnd} list=${list} total=${isFiltered ? null : total} />
      </section>`
    }
    ${access.has("deleted-collections") && access.may("collection.list_deleted") && html`<${DeletedCollections} now=${now} />`}
    ${
      selection.keys.length > 0 &&
      html`<${SelectionBar}
        items=${items.filter((one) => selection.has(one.id))}
        clear=${selection.clear}
        reload=${list.reload}
      />`
    }
    ${isNew && html`<${NewCollection} close=${() => go(["collections"])} />`}`;
}

const isChangeable = ({ may }) => may.includes("collection.edit") || may.includes("collection.tokens");

function Nothing({ isFiltered, filters }) {
  const access = useAccess();
  if (!isFiltered)
    return html`<div class="card">
      <${Empty} icon="collections" title=${t.collectionsView.empty} text=${t.collectionsView.emptyText}>
        ${
          access.may("collection.create") &&
          html`<a class="btn pri" href=${link(["collections", "new"])}
            ><${Icon} name="plus" />${t.collectionsView.new}</a
          >`
        }
      <//>
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

function columnsFor(sizes, now) {
  return [
    { title: t.table.state, sort: "state", cell: (one) => html`<${StateBadge} state=${one.state} />` },
    {
      title: t.table.name,
      sort: "name",
      className: "main",
      cell: (one) => html`<${NameCell} collection=${one} now=${now} />`,
    },
    {
      title: t.table.last,
      sort: "last_version_at",
      firstSort: "-last_version_at",
      className: "n",
      label: t.table.lastShort,
      cell: (one) => timeCell(one.last_version?.at, now),
    },
    {
      title: t.table.size,
      className: "n",
      label: t.table.sizeShort,
      cell: (one) => (one.last_version ? size(one.last_version.size) : html`<span class="faint">${t.none}</span>`),
    },
    {
      title: t.table.stored,
      sort: "stored_size",
      firstSort: "-stored_size",
      className: "opt",
      cell: (one) =>
        html`<span class="row"
          >${sizes[one.id] && html`<${Sparkline} values=${sizes[one.id]} label=${t.overview.sizes(one.name)} />`}<span
            class="dim end"
            >${size(one.stored_size)}</span
          ></span
        >`,
    },
    { title: t.table.versions, className: "n opt", cell: (one) => count(one.versions) },
    { title: t.table.next, className: "n", label: t.table.nextShort, cell: (one) => dueCell(one, now) },
  ];
}

const NameCell = ({ collection, now }) =>
  html`<div>
    <a class="name" href=${link(["collections", collection.id])}>${collection.name}</a>${" "}
    ${collection.labels.map((label) => html`<${Tag}>${label}<//>${" "}`)}
    ${
      collection.state !== "ok" &&
      html`<div class=${`sm ${collection.state}`}><span class="fg">${reason(collection, now)}</span></div>`
    }
  </div>`;

const timeCell = (time, now) =>
  time
    ? html`<time datetime=${time} title=${exactTime(time)}>${relative(time, now)}</time>`
    : html`<span class="faint">${t.never}</span>`;

function dueCell({ due_at: due, state }, now) {
  if (!due) return html`<span class="faint">${t.table.notSet}</span>`;
  const isDue = state === "late" || state === "overdue" || new Date(due) < now;
  return html`<time
    class=${isDue ? `${state === "overdue" ? "overdue" : "late"} fg b` : ""}
    datetime=${due}
    title=${exactTime(due)}
    >${relative(due, now)}</time
  >`;
}
