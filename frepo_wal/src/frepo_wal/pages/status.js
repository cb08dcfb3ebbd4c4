// The card of an archive of WAL: what can be restored, and what is missing.

function line(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

function lines(state, format) {
  const found = state.problems.map((one) => `Problem: ${one}`);
  for (const one of state.restorable) {
    found.push(`Each moment from ${format.dateTime(one.since)} to ${format.dateTime(one.until)} can be restored`);
  }
  for (const one of state.missing) {
    found.push(`Missing: ${one.first} to ${one.last} (${format.count(one.count)})`);
  }
  if (state.newest) found.push(`Newest segment: ${state.newest}, ${format.relative(state.newest_at)}`);
  if (state.waiting !== null) found.push(`Waiting on the primary: ${format.count(state.waiting)}`);
  return found.length ? found : ["No segment has arrived yet"];
}

/**
 * Fill the card.
 *
 * @param {HTMLElement} place
 * @param {{api: any, format: any, collection: any}} console
 */
export async function mount(place, { api, format, collection }) {
  const state = await api.read(`/collections/${collection.id}/wal`);
  const list = document.createElement("ul");
  list.append(...lines(state, format).map(line));
  place.append(list);
}
