// The columns of the table of versions: one verdict for each version, and buttons that keep their places.

import { html } from "../../../lib/html.js";
import { send } from "../../../lib/api.js";
import { dateTime, exactTime, percent, size } from "../../../lib/format.js";
import { ActionButton } from "../../../components/action.js";
import { Icon } from "../../../components/icons.js";
import { SlotButtons } from "../../../components/slots.js";
import { Tag } from "../../../components/state.js";
import { inWords } from "../../../texts.js";
import { t } from "../../../texts/collection.js";
import { isLocked } from "../lock.js";
import { numbersInBanners } from "../trouble.js";
import { downloadVersion, releaseVersion, versionPath } from "./actions.js";
import { LockedUntil, PinOf } from "./holds.js";

/** `table` is `{collection, open, changed, now}`; `open` has a function for each dialog. */
export function columnsFor(items, table) {
  // The size of the version before, for the change. Those in quarantine are not compared with.
  const counted = items.filter((one) => !one.quarantined);
  const before = new Map(items.map((one) => [one.number, counted.find((other) => other.number < one.number)]));
  const inBanners = numbersInBanners(table.collection, items);
  return [
    {
      title: t.versions_.version,
      cell: ({ number }) =>
        html`<button
          class="btn bare s"
          aria-label=${t.versions_.details(number)}
          onClick=${() => table.open.panel(number)}
        >
          ${number}
        </button>`,
    },
    {
      title: t.versions_.received,
      className: "main",
      cell: (one) => html`<${Received} version=${one} isInBanner=${inBanners.includes(one.number)} ...${table} />`,
    },
    { title: t.table.size, className: "n", label: t.table.sizeShort, cell: (one) => size(one.size) },
    {
      title: t.versions_.change,
      className: "n",
      label: t.versions_.changeShort,
      cell: (one) => html`<${Change} version=${one} before=${before.get(one.number)} />`,
    },
    { title: t.versions_.verdict, cell: (one) => html`<${Verdict} version=${one} />` },
    {
      title: t.table.actions,
      isHidden: true,
      className: "n act",
      cell: (one) => html`<${Actions} version=${one} ...${table} />`,
    },
  ];
}

const Received = ({ version, isInBanner, now, ...table }) => html`
  <time datetime=${version.created_at} title=${exactTime(version.created_at)}
    >${dateTime(version.created_at, now)}</time
  >
  ${version.pinned && html` <span class="badge"><${Icon} name="pinned" />${t.versions_.pinned}</span>`}
  <${Standing} version=${version} isInBanner=${isInBanner} table=${table} now=${now} />
  ${isLocked(version, now) && html` <${LockedUntil} until=${version.locked_until} now=${now} />`}
  ${version.pinned && html`<${PinOf} version=${version} now=${now} />`}
  ${version.note && html`<div class="sm dim">${version.note}</div>`}
  ${Object.entries(version.labels).map(([name, value]) => html` <${Tag} key=${name}>${name}: ${value}<//>`)}
`;

/**
 * What follows from the verdict: quarantine, waiting, or that it is not the latest any more; and who released it. What
 * can be done about it is here only if no banner has it.
 */
function Standing({ version, isInBanner, table, now }) {
  const { quarantined, condemned_at: condemned, verdict, released_by: by } = version;
  const isBad = quarantined || condemned || verdict === "broken" || verdict === "suspicious";
  const text = quarantined
    ? version.quarantine_reason === "overtaken"
      ? t.versions_.overtakenText
      : t.versions_.quarantineText
    : condemned
      ? t.versions_.condemned(dateTime(condemned, now))
      : version.pending
        ? t.versions_.pending
        : by && t.versions_.releasedBy(version.released_by_name, by, dateTime(version.released_at, now));
  if (!isBad && !text) return null;
  return html`<div class="row wrap sm dim">
    ${text}${isBad && !isInBanner && html`<${Release} version=${version} ...${table} />`}
    ${quarantined && !isInBanner && html`<${CompareButton} version=${version} ...${table} />`}
  </div>`;
}

const VERDICT_STATES = { unchecked: "new", pending: "late", suspicious: "suspicious", broken: "failed" };

/** The state of a version as `[state, word, reason]`: damage comes before all that was known before. */
export function verdictOf({ damaged, quarantined, verdict, verdict_reason: why }) {
  const reason = why && inWords(why);
  if (damaged) return ["damaged", t.states.damaged.toLowerCase(), t.versions_.unreadable];
  const word = t.versions_.verdicts[verdict] ?? verdict;
  const state = VERDICT_STATES[verdict] ?? "ok";
  if (!quarantined) return [state, word, reason];
  return [state === "failed" ? state : "suspicious", `${word}, ${t.versions_.inQuarantine}`, reason];
}

/** What is known about a version, as shape and word. The reason is the title. */
export function Verdict({ version }) {
  const [state, word, reason] = verdictOf(version);
  return html`<span class=${`row ${state}`} title=${reason ?? undefined}
    ><${Icon} name=${state} isColoured />${word}</span
  >`;
}

/** `className` is that of an `ActionButton`. */
export function Release({ version, collection, changed, className = undefined }) {
  if (!collection.may.includes("version.edit")) return null;
  const release = async () => {
    await releaseVersion(collection, version);
    changed();
  };
  return html`<${ActionButton} run=${release} className=${className}
    >${t.versions_.release}<span class="vh"> ${t.versions_.number(version.number)}</span><//
  >`;
}

const CompareButton = ({ version, open }) =>
  html`<button class="btn s" onClick=${() => open.compare(version)}>
    ${t.versions_.compare}<span class="vh"> ${t.versions_.number(version.number)}</span>
  </button>`;

function Change({ version, before }) {
  if (!before || !before.size) return null;
  const part = version.size / before.size - 1;
  const isLarge = Math.abs(part) >= 0.5;
  return html`<span class=${isLarge ? "suspicious" : "dim"}
    ><span class=${isLarge ? "fg b" : ""}>${percent(part, { isChange: true })}</span></span
  >`;
}

/** Keeps the place of a button that a row does not have. */
const Gap = ({ name }) =>
  html`<span class="btn bare s" style=${{ visibility: "hidden" }} aria-hidden="true"><${Icon} name=${name} /></span>`;

function Actions({ version, collection, open, changed }) {
  const name = t.versions_.number(version.number);
  const mayEdit = collection.may.includes("version.edit");
  const mayDelete = collection.may.includes("version.delete");
  const bare = { className: "btn bare s" };
  const titled = (title) => ({ "aria-label": title, title });
  const pin = async () => {
    await send("PATCH", versionPath(collection, version.number), { body: { pinned: true } });
    changed();
  };
  return html`<span class="row actions">
    <${ActionButton}
      run=${() => downloadVersion(collection, version)}
      data-row-key="d"
      ...${titled(t.versions_.downloadOne(name))}
      ...${bare}
      ><${Icon} name="download"
    /><//>
    <${SlotButtons} collection=${collection} name=${name} open=${(slot) => open.slot(slot, version)} />
    ${
      mayEdit &&
      (version.quarantined
        ? html`<${Gap} name="pin" />`
        : version.pinned
          ? html`<button
              class="btn bare s"
              ...${titled(t.versions_.pinOne(name, true))}
              data-row-key="p"
              onClick=${() => open.pin(version)}
            >
              <${Icon} name="pinned" />
            </button>`
          : html`<${ActionButton} run=${pin} data-row-key="p" ...${titled(t.versions_.pinOne(name, false))} ...${bare}
              ><${Icon} name="pin"
            /><//>`)
    }
    ${
      mayEdit &&
      html`<button class="btn bare s" ...${titled(t.versions_.noteOne(name))} onClick=${() => open.note(version)}>
        <${Icon} name="edit" />
      </button>`
    }
    ${
      mayDelete &&
      (version.pinned || isLocked(version)
        ? html`<${Gap} name="trash" />`
        : html`<button
            class="btn bare s"
            ...${titled(t.versions_.deleteOne(name))}
            onClick=${() => open.delete([version])}
          >
            <${Icon} name="trash" />
          </button>`)
    }
  </span>`;
}
