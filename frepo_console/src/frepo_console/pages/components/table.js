// Tables: sorting by a link, rows that the keyboard reaches, a selection, and pages that are added at the end.

import { Part, html, useEffect, useRef, useState, useSteps } from "../lib/html.js";
import { useShortcuts } from "../lib/navigation.js";
import { t } from "../texts.js";

/**
 * A table of `rows`. Each column: `{title, cell(row), className, sort, label}`; `label` is the title on a phone, where
 * a row becomes a few lines; `sort` is the name of its order. `open(row, tr)` opens a row by Enter or a click. With a `selection`
 * (see `useSelection`) each row has a check box; `keys` are further shortcuts for the row with the focus, `{p: pin}`,
 * called like `open`. `sort` is the current order, `sortBy(order)` changes it.
 */
export function Table({ caption, columns, rows, keyOf, nameOf, open, selection, keys, sort, sortBy }) {
  const body = useRef(null);
  const drawn = useSteps(rows.length);
  useRowKeys(body, rows, { open, selection, keys, keyOf });
  return html`<div class="scroll">
    <table class="cards">
      <caption class="vh">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${
            selection &&
            html`<th class="pickall"><${SelectAll} rows=${rows} selection=${selection} keyOf=${keyOf} /></th>`
          }
          ${columns.map((column) => html`<${Heading} column=${column} sort=${sort} sortBy=${sortBy} />`)}
        </tr>
      </thead>
      <tbody ref=${body}>
        ${rows.slice(0, drawn).map((row) => {
          const key = keyOf(row);
          const isSelected = selection?.has(key);
          const draw = () =>
            html`<tr
              onClick=${open && ((event) => openByClick(event, () => open(row, event.currentTarget)))}
              tabindex=${open ? "-1" : undefined}
              aria-selected=${selection ? String(isSelected) : undefined}
            >
              ${
                selection &&
                html`<td class="pick1">
                  <input
                    type="checkbox"
                    aria-label=${t.select(nameOf(row))}
                    checked=${isSelected}
                    onClick=${(event) => selection.toggle(key, event.shiftKey)}
                  />
                </td>`
              }
              ${columns.map(
                (column) => html`<td class=${column.className} data-l=${column.label}>${column.cell(row)}</td>`,
              )}
            </tr>`;
          return html`<${Part} key=${key} draw=${draw} uses=${[row, columns]} state=${isSelected} />`;
        })}
      </tbody>
    </table>
  </div>`;
}

/** A click on a row opens it, unless it was for something in the row, or ends the selection of a text. */
function openByClick(event, run) {
  const isElsewhere = event.target.closest("a, button, input, label, summary") || String(getSelection());
  if (!isElsewhere) run();
}

function Heading({ column, sort = "", sortBy }) {
  const { title, className = "", sort: order, isHidden } = column;
  const classes = className.replace(/main|act/g, "");
  if (!order) return html`<th class=${classes}>${isHidden ? html`<span class="vh">${title}</span>` : title}</th>`;
  const isCurrent = sort.replace("-", "") === order;
  const isDown = sort.startsWith("-");
  const direction = isCurrent ? (isDown ? "descending" : "ascending") : undefined;
  const next = isCurrent ? (isDown ? order : `-${order}`) : (column.firstSort ?? order);
  return html`<th class=${classes} aria-sort=${direction}>
    <button class="sort" onClick=${() => sortBy(next)}>
      ${title}<span aria-hidden="true">${isCurrent ? (isDown ? " ▾" : " ▴") : ""}</span>
    </button>
  </th>`;
}

function SelectAll({ rows, selection, keyOf }) {
  const keys = rows.map(keyOf);
  const isAll = keys.length > 0 && keys.every((key) => selection.has(key));
  return html`<input
    type="checkbox"
    aria-label=${t.selectAll}
    checked=${isAll}
    onClick=${() => selection.set(isAll ? [] : keys)}
  />`;
}

/** The end of a list: how many are shown, and a button for the next page. */
export function ListEnd({ list, total }) {
  const [isLoading, setLoading] = useState(false);
  const more = async () => {
    setLoading(true);
    await list.more().finally(() => setLoading(false));
  };
  const shown = list.items.length;
  return html`<div class="row list-end">
    <span class="dim sm grow">${total ? t.shownOf(shown, total) : t.shown(shown, list.hasMore)}</span>
    ${list.error && html`<span class="sm err" role="status">${list.error.message}</span>`}
    ${list.hasMore && html`<button class="btn s" disabled=${isLoading} onClick=${more}>${t.showMore}</button>`}
  </div>`;
}

/** The selected keys of a table: `keys`, `has`, `toggle(key, isRange)`, `set(keys)`, `clear()`. */
export function useSelection(order) {
  const [keys, setKeys] = useState(() => new Set());
  const from = useRef(null);
  const toggle = (key, isRange = false) => {
    const found = new Set(keys);
    const ends = [order.indexOf(from.current), order.indexOf(key)].sort((one, other) => one - other);
    if (isRange && ends[0] >= 0) order.slice(ends[0], ends[1] + 1).forEach((one) => found.add(one));
    else if (found.has(key)) found.delete(key);
    else found.add(key);
    from.current = key;
    setKeys(found);
  };
  const set = (some) => setKeys(new Set(some));
  return {
    keys: [...keys].filter((key) => order.includes(key)),
    has: (key) => keys.has(key),
    toggle,
    set,
    clear: () => set([]),
  };
}

/** `j` and `k` go through the rows, Enter opens one, `x` selects it, Shift+x up to it. */
function useRowKeys(body, rows, { open, selection, keys = {}, keyOf }) {
  const at = useRef(-1);
  useEffect(() => {
    at.current = Math.min(at.current, rows.length - 1);
  }, [rows]);
  const move = (step) => () => {
    const trs = [...(body.current?.rows ?? [])];
    const current = trs.findIndex((tr) => tr.contains(document.activeElement));
    at.current = Math.max(0, Math.min(trs.length - 1, (current < 0 ? at.current : current) + step));
    trs[at.current]?.focus();
  };
  const onRow = (run) => () => {
    const trs = [...(body.current?.rows ?? [])];
    const index = trs.findIndex((tr) => tr.contains(document.activeElement));
    if (index >= 0) run(rows[index], trs[index]);
    return index >= 0;
  };
  useShortcuts(
    open
      ? {
          j: move(1),
          ArrowDown: move(1),
          k: move(-1),
          ArrowUp: move(-1),
          Enter: () => document.activeElement?.tagName === "TR" && onRow(open)(),
          ...Object.fromEntries(Object.entries(keys).map(([key, run]) => [key, onRow(run)])),
          ...(selection && {
            x: onRow((row) => selection.toggle(keyOf(row))),
            X: onRow((row) => selection.toggle(keyOf(row), true)),
            Escape: selection.keys.length ? selection.clear : undefined,
          }),
        }
      : {},
  );
}
