// A tab on the page of a collection: its state in large letters, and the sizes of its last versions.

const SHOWN = 10;

/** An element with a text. Texts of others, such as names, are never parsed as HTML. */
function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

export async function mount(place, { api, format, collection }) {
  const { items } = await api.read(`/collections/${collection.id}/versions`, { query: { limit: SHOWN } });
  const list = document.createElement("ul");
  list.append(...items.map((one) => element("li", `${format.dateTime(one.created_at)}: ${format.size(one.size)}`)));
  place.append(element("h2", collection.state), items.length ? list : element("p", "No version yet."));
}
