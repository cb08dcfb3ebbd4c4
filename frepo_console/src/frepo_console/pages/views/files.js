// Files: drop many of them, find one, and share it.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { useAccess } from "../lib/access.js";
import { SCREENFUL, useList } from "../lib/data.js";
import { date, exactTime, size } from "../lib/format.js";
import { changeQuery, go, link } from "../lib/navigation.js";
import { useInterrupted, useTransfers } from "../lib/transfers.js";
import { Aside } from "../components/aside.js";
import { Empty, ErrorNote, Skeleton } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { Tag } from "../components/state.js";
import { ListEnd, Table } from "../components/table.js";
import { t as common } from "../texts.js";
import { t } from "../texts/files.js";
import { FileDetails } from "./files/details.js";
import { DropZone } from "./files/drop_zone.js";
import { Picture, REACH_ICONS, reachOf } from "./files/file.js";
import { TOPIC, Uploads, textOf } from "./files/uploads.js";

export default function Files({ route }) {
  const access = useAccess();
  const [, selected] = route.parts;
  const { query } = route;
  const filters = { q: query.get("q") ?? "", tag: query.get("tag") ?? "" };
  const list = useList(access.may("file.list") ? "/files" : null, { query: filters, limit: 2 * SCREENFUL });
  const uploads = useTransfers(TOPIC);
  useInterrupted(TOPIC, access.inParts({}), { finished: list.reload, textOf });
  const choose = useRef(/** @type {HTMLInputElement | null} */ (null));
  const hasSide = selected || uploads.length > 0;
  const mayUpload = access.may("file.upload");
  return html`<header class="head">
      <h1>${common.menu.files}</h1>
      ${
        mayUpload &&
        html`<button class="btn pri" data-key="u" onClick=${() => choose.current?.click()}>
          <${Icon} name="upload" />${t.choose}
        </button>`
      }
    </header>
    <div class=${hasSide ? "cols" : "stack"}>
      <div class="w8 stack">
        ${mayUpload && html`<${DropZone} choose=${choose} reload=${list.reload} />`}
        ${
          access.may("file.list") &&
          html`<${Filters}
              filters=${filters}
              items=${list.items ?? []}
              isList=${query.get("view") === "list"}
            /><${Shown}
              list=${list}
              filters=${filters}
              isList=${query.get("view") === "list"}
              mayUpload=${mayUpload}
            />`
        }
      </div>
      ${
        hasSide &&
        html`<${Aside} at=${selected} label=${selected ? common.menu.files : t.uploads}>
          <${Uploads} />
          ${selected && html`<${FileDetails} key=${selected} name=${selected} reload=${list.reload} />`}
        <//>`
      }
    </div>`;
}

function Filters({ filters, items, isList }) {
  // The API has no list of tags: those of the shown files are offered.
  const [tags, setTags] = useState(/** @type {string[]} */ ([]));
  useEffect(() => setTags((old) => [...new Set([...old, ...items.flatMap((one) => one.tags)])].sort()), [items]);
  const choose = (view) => changeQuery({ view });
  return html`<div class="row wrap" role="search">
    <div class="search">
      <${Icon} name="search" /><input
        class="in"
        type="search"
        data-search
        aria-label=${t.search}
        placeholder=${t.search}
        value=${filters.q}
        onInput=${(event) => changeQuery({ q: event.target.value }, { isTyping: true })}
      />
    </div>
    <select class="in" aria-label=${t.allTags} onChange=${(event) => changeQuery({ tag: event.target.value })}>
      <option value="">${t.allTags}</option>
      ${tags.map((tag) => html`<option value=${tag} selected=${tag === filters.tag}>${tag}</option>`)}
    </select>
    <div class="seg" role="group" aria-label=${t.layout}>
      <button class="btn" aria-pressed=${String(!isList)} onClick=${() => choose("")}>
        <${Icon} name="overview" />${t.gallery}
      </button>
      <button class="btn" aria-pressed=${String(isList)} onClick=${() => choose("list")}>
        <${Icon} name="events" />${t.list}
      </button>
    </div>
  </div>`;
}

function Shown({ list, filters, isList, mayUpload }) {
  const isFiltered = filters.q || filters.tag;
  return html`${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
  ${list.items === null && list.isSlow && !list.error && html`<div class="card"><${Skeleton} /></div>`}
  ${
    list.items?.length === 0 &&
    html`<div class="card">
      <${Empty}
        icon="files"
        title=${isFiltered ? t.noMatch : t.empty}
        text=${isFiltered ? "" : mayUpload ? t.emptyText : t.emptyReader}
      >
        ${isFiltered && html`<a class="btn" href=${link(["files"])}>${common.clearFilters}</a>`}
      <//>
    </div>`
  }
  ${
    list.items?.length > 0 &&
    (isList
      ? html`<section class="card flush" aria-label=${common.menu.files}>
          <${Rows} items=${list.items} /><${ListEnd} list=${list} />
        </section>`
      : html`<section class="card" aria-label=${common.menu.files}><${Gallery} items=${list.items} /></section>
          <div class="card flush"><${ListEnd} list=${list} /></div>`)
  }`;
}

const hrefOf = (file) =>
  link(["files", file.name], { view: new URLSearchParams(location.hash.split("?")[1] ?? "").get("view") });

const Reach = ({ file }) =>
  html`<span class="row"><${Icon} name=${REACH_ICONS[reachOf(file)]} />${t.reaches[reachOf(file)]}</span>`;

const Gallery = ({ items }) =>
  html`<ul class="gal">
    ${items.map(
      (file) =>
        html`<li key=${file.name}>
          <a class="stack" href=${hrefOf(file)} title=${file.requested_name}
            ><${Picture} file=${file} /><span class="cut">${file.requested_name}</span></a
          >
          <div class="row sm dim"><span class="grow">${size(file.size)}</span><${Reach} file=${file} /></div>
        </li>`,
    )}
  </ul>`;

const COLUMNS = [
  {
    title: t.name,
    className: "main",
    cell: (file) =>
      html`<a class="name" href=${hrefOf(file)}>${file.requested_name}</a
        >${" "}${file.tags.map((tag) => html`<${Tag}>${tag}<//> `)}`,
  },
  { title: t.type, className: "opt", cell: (file) => html`<span class="dim sm">${file.mime_type}</span>` },
  { title: t.reach, cell: (file) => html`<${Reach} file=${file} />` },
  { title: t.size, className: "n", label: t.size, cell: (file) => size(file.size) },
  {
    title: t.added,
    className: "n",
    label: t.added,
    cell: (file) =>
      html`<time datetime=${file.created_at} title=${exactTime(file.created_at)}>${date(file.created_at)}</time>`,
  },
];

const Rows = ({ items }) =>
  html`<${Table}
    caption=${common.menu.files}
    columns=${COLUMNS}
    rows=${items}
    keyOf=${(file) => file.name}
    nameOf=${(file) => file.requested_name}
    open=${(file) => go(["files", file.name], { view: "list" })}
  />`;
