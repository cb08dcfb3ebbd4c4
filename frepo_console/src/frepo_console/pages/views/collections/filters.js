// The filters of the collections. They are in the URL, so that each list can be bookmarked.

import { html, useContext, useState } from "../../lib/html.js";
import { About } from "../../lib/access.js";
import { duration, durationSeconds } from "../../lib/format.js";
import { changeQuery } from "../../lib/navigation.js";
import { Icon } from "../../components/icons.js";
import { STATES } from "../../components/state.js";
import { t } from "../../texts/collections.js";

const TYPING_MS = 200;
const SORT = "state";

/** The filters of a URL, as parameters of the API. */
export const filtersOf = (query) => ({
  q: query.get("q") ?? "",
  state: query.getAll("state").filter((state) => STATES.includes(state)),
  label: query.getAll("label"),
  strategy: query.get("strategy") ?? "",
  unchanged_nights: /^\d+$/.test(query.get("unchanged") ?? "") ? query.get("unchanged") : "",
  restore_untested_for: durationSeconds(query.get("untested")) === null ? "" : query.get("untested"),
  sort: query.get("sort") ?? SORT,
});

export function Filters({ filters, states, total }) {
  const { strategies } = useContext(About);
  const [typing, setTyping] = useState(0);
  const search = (event) => {
    const q = event.target.value;
    clearTimeout(typing);
    setTyping(setTimeout(() => changeQuery({ q }, { isTyping: true }), TYPING_MS));
  };
  const addLabel = (event) => {
    if (event.key !== "Enter" || !event.target.value.trim()) return;
    changeQuery({ label: [...filters.label, event.target.value.trim()] });
    event.target.value = "";
  };
  const toggle = (state) =>
    changeQuery({
      state: filters.state.includes(state) ? filters.state.filter((one) => one !== state) : [...filters.state, state],
    });
  return html`<div class="stack">
    <div class="row wrap">
      <div class="search">
        <${Icon} name="search" /><input
          class="in"
          type="search"
          data-search
          placeholder=${t.collectionsView.search}
          aria-label=${t.collectionsView.search}
          defaultValue=${filters.q}
          onInput=${search}
        />
      </div>
      <input
        class="in narrow"
        placeholder=${t.collectionsView.label}
        aria-label=${t.collectionsView.label}
        onKeyDown=${addLabel}
      />
      <select
        class="in"
        aria-label=${t.form.strategy}
        value=${filters.strategy}
        onChange=${(event) => changeQuery({ strategy: event.target.value })}
      >
        <option value="">${t.collectionsView.allStrategies}</option>
        ${strategies.map(
          (name) =>
            html`<option value=${name} selected=${name === filters.strategy}>
              ${t.form.strategies[name] ?? name}
            </option>`,
        )}
      </select>
    </div>
    <div class="row wrap">
      <button
        class="chip"
        aria-pressed=${String(filters.state.length === 0)}
        onClick=${() => changeQuery({ state: [] })}
      >
        ${total !== null && html`<b>${total}</b>`} ${t.collectionsView.all}
      </button>
      ${STATES.filter((state) => !states || states[state] > 0 || filters.state.includes(state)).map(
        (state) =>
          html`<button
            class=${`chip ${state}`}
            aria-pressed=${String(filters.state.includes(state))}
            onClick=${() => toggle(state)}
          >
            <${Icon} name=${state} isColoured />${states && html`<b>${states[state]}</b>`} ${t.states[state]}
          </button>`,
      )}
      ${filters.label.map(
        (label) =>
          html`<button
            class="chip"
            aria-pressed="true"
            title=${t.collectionsView.removeLabel}
            onClick=${() => changeQuery({ label: filters.label.filter((one) => one !== label) })}
          >
            ${label}<${Icon} name="close" />
          </button>`,
      )}
      ${[
        ["unchanged", filters.unchanged_nights, t.collectionsView.unchanged],
        ["untested", filters.restore_untested_for, (every) => t.collectionsView.untested(duration(every))],
      ].map(
        ([name, value, text]) =>
          value &&
          html`<button
            class="chip"
            aria-pressed="true"
            title=${t.collectionsView.removeFilter}
            onClick=${() => changeQuery({ [name]: "" })}
          >
            ${text(value)}<${Icon} name="close" />
          </button>`,
      )}
    </div>
  </div>`;
}
