// Tokens: who may do what, and who was here last. One of them, a new one, or its secret is shown next to the list.

import { html, useContext, useState } from "../lib/html.js";
import { About, useAccess } from "../lib/access.js";
import { SCREENFUL, useList, useNow } from "../lib/data.js";
import { date, exactTime, relative } from "../lib/format.js";
import { changeQuery, go, link } from "../lib/navigation.js";
import { Aside } from "../components/aside.js";
import { Empty, ErrorNote, Skeleton } from "../components/feedback.js";
import { Icon } from "../components/icons.js";
import { StateBadge, Tag } from "../components/state.js";
import { ListEnd, Table } from "../components/table.js";
import { t as common } from "../texts.js";
import { t } from "../texts/tokens.js";
import { NewToken } from "./tokens/create.js";
import { TokenDetails } from "./tokens/details.js";
import { Enrolments } from "./tokens/enrolments.js";
import { presetText, scopeText } from "./tokens/presets.js";
import { Secret } from "./tokens/secret.js";

const DAY = 24 * 3600 * 1000;
const SOON = 7 * DAY;
const LONG_UNUSED = 30 * DAY;
const ROLES = [
  "collections.upload_to_allowed_collections",
  "collections.list_versions_for_allowed_collections",
  "security.administrator",
];

export default function Tokens({ route }) {
  const [, selected] = route.parts;
  const [issued, setIssued] = useState(/** @type {{ fingerprint: string; secret: string } | null} */ (null));
  const access = useAccess();
  const now = useNow();
  const filters = filtersOf(route.query);
  const list = useList("/tokens", { query: filters, name: route.query.toString(), limit: SCREENFUL });
  const shown = issued?.fingerprint === selected ? issued : null;
  const finish = (token) => {
    setIssued(token);
    list.reload();
    go(["tokens", token.fingerprint]);
  };
  const panel = shown
    ? html`<${Secret} token=${shown} />`
    : selected === "new"
      ? html`<${NewToken} finish=${finish} />`
      : selected &&
        html`<${TokenDetails} key=${selected} fingerprint=${selected} finish=${finish} reload=${list.reload} />`;
  return html`<header class="head">
      <div>
        <h1>${common.menu.tokens}</h1>
        ${list.items && html`<p class="dim">${summary(list, now)}</p>`}
      </div>
      ${
        access.may("token.generate") &&
        html`<a class=${selected ? "btn" : "btn pri"} data-key="n" href=${link(["tokens", "new"])}
          ><${Icon} name="plus" />${t.new}</a
        >`
      }
    </header>
    <div class=${panel ? "cols" : "stack"}>
      <div class="w8 stack">
        <${Filters} filters=${filters} /><${List} list=${list} filters=${filters} now=${now} selected=${selected} />
        <${Enrolments} />
      </div>
      ${
        panel &&
        html`<${Aside} at=${selected} isKept=${Boolean(shown)} label=${selected === "new" ? t.new : common.menu.tokens}
          >${panel}<//
        >`
      }
    </div>`;
}

function filtersOf(query) {
  const days = Number(query.get("unused"));
  const since = days ? new Date(Math.floor(Date.now() / DAY) * DAY - days * DAY).toISOString() : "";
  return {
    q: query.get("q") ?? "",
    role: query.get("role") ?? "",
    unused_since: since,
    sort: query.get("sort") ?? "name",
  };
}

function summary({ items, hasMore }, now) {
  if (hasMore) return "";
  const expiring = items.filter(
    (one) =>
      one.expires_at && new Date(one.expires_at).getTime() - now.getTime() < SOON && new Date(one.expires_at) > now,
  ).length;
  const unused = items.filter((one) => isUnused(one, now)).length;
  return [t.count(items.length), expiring && t.expiring(expiring), unused && t.unused(unused)]
    .filter(Boolean)
    .join(" ");
}

const isUnused = ({ last_used_at: used, created_at: created }, now) =>
  now.getTime() - new Date(used ?? created).getTime() > LONG_UNUSED;

function Filters({ filters }) {
  const change = (name) => (event) => changeQuery({ [name]: event.target.value });
  const days = new URLSearchParams(location.hash.split("?")[1] ?? "").get("unused") ?? "";
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
    <select class="in" aria-label=${t.roles} onChange=${change("role")}>
      <option value="">${t.allRoles}</option>
      ${ROLES.map(
        (role) => html`<option value=${role} selected=${role === filters.role}>${presetText([role])}</option>`,
      )}
    </select>
    <select class="in" aria-label=${t.lastUsed} onChange=${change("unused")}>
      <option value="">${t.anyTime}</option>
      ${[30, 90, 180].map(
        (value) => html`<option value=${value} selected=${String(value) === days}>${t.unusedFor(value)}</option>`,
      )}
    </select>
  </div>`;
}

function List({ list, filters, now, selected }) {
  const isFiltered = filters.q || filters.role || filters.unused_since;
  const { token } = useContext(About);
  const columns = [
    {
      title: t.name,
      sort: "name",
      className: "main",
      cell: (one) => html`<${NameCell} token=${one} isOwn=${one.fingerprint === token.fingerprint} />`,
    },
    { title: t.allowed, className: "opt", cell: (one) => html`<span class="dim sm">${scopeText(one)}</span>` },
    {
      title: t.lastUsed,
      sort: "last_used_at",
      firstSort: "-last_used_at",
      className: "n",
      label: t.lastUsed,
      cell: (one) => html`<${LastUse} token=${one} now=${now} />`,
    },
    {
      title: t.expires,
      sort: "expires_at",
      className: "n",
      label: t.expires,
      cell: (one) => html`<${Expiry} token=${one} now=${now} />`,
    },
  ];
  return html`${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
  ${list.items === null && list.isSlow && !list.error && html`<div class="card"><${Skeleton} /></div>`}
  ${
    list.items?.length === 0 &&
    html`<div class="card">
      <${Empty} icon="tokens" title=${isFiltered ? t.noMatch : t.empty}>
        ${isFiltered && html`<a class="btn" href=${link(["tokens"])}>${common.clearFilters}</a>`}
      <//>
    </div>`
  }
  ${
    list.items?.length > 0 &&
    html`<section class="card flush" aria-label=${common.menu.tokens}>
      <${Table}
        caption=${common.menu.tokens}
        columns=${columns}
        rows=${list.items}
        keyOf=${(one) => one.fingerprint}
        nameOf=${nameOf}
        open=${(one) => go(["tokens", one.fingerprint])}
        current=${selected}
        sort=${filters.sort}
        sortBy=${(sort) => changeQuery({ sort })}
      />
      <${ListEnd} list=${list} />
    </section>`
  }`;
}

export const nameOf = (token) => token.name ?? t.unnamed;

const NameCell = ({ token, isOwn }) =>
  html`<div>
    <a class=${token.name ? "name" : "name faint"} href=${link(["tokens", token.fingerprint])}>${nameOf(token)}</a>
    ${isOwn && html`${" "}<${Tag}>${t.you}<//>`}
    <div class="sm dim row"><code>${token.fingerprint}</code>${presetText(token.roles)}</div>
  </div>`;

function LastUse({ token, now }) {
  const { last_used_at: used, last_used_from: from } = token;
  if (!used) return html`<${StateBadge} state="new" text=${common.never} />`;
  const text = relative(used, now);
  return html`<time datetime=${used} title=${exactTime(used)}
      >${isUnused(token, now) ? html`<${StateBadge} state="late" text=${text} />` : text}</time
    >
    ${" "}
    <div class="sm dim">${from}</div>`;
}

function Expiry({ token, now }) {
  const end = token.expires_at;
  if (!end) return html`<span class="faint">${common.never}</span>`;
  const left = new Date(end).getTime() - now.getTime();
  const badge = left <= 0 ? ["overdue", t.expired(date(end))] : left < SOON && ["late", relative(end, now)];
  return html`<time datetime=${end} title=${exactTime(end)}
    >${badge ? html`<${StateBadge} state=${badge[0]} text=${badge[1]} />` : date(end)}</time
  >`;
}
