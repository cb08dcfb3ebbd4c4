// The open uploads of a collection: a card on its page in the web console, which docs/plugins/console.md of frepo describes.

const SECONDS = 15;

/** An element with a text. Texts of others, such as names, are never parsed as HTML. */
function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

export async function mount(place, { api, format, about, collection, confirm, signal }) {
  const list = element("ul", "stack");
  const rows = new Map();

  /** The rows stay, so that a button keeps the focus while the others are read again. */
  async function show() {
    const { items: open } = await api.read(`/uploads?limit=500&collection=${encodeURIComponent(collection.id)}`);
    for (const [id, row] of rows) {
      if (open.some((one) => one.id === id)) continue;
      row.remove();
      rows.delete(id);
    }
    for (const upload of open) {
      if (!rows.has(upload.id)) rows.set(upload.id, makeRow(upload));
      update(rows.get(upload.id), upload);
    }
    if (rows.size === 0) list.remove();
    else if (!list.isConnected) place.append(list);
  }

  function makeRow(upload) {
    const row = element("li", "row wrap");
    row.append(element("b", "", nameOf(upload)), element("span", "grow dim"));
    if (!about.read_only) row.append(makeButton(upload));
    list.append(row);
    return row;
  }

  function update(row, upload) {
    const { offset, length, state, expires_at: expires } = upload;
    const isStoring = state === "committing"; // it cannot be ended now
    const received = length === null ? format.size(offset) : `${format.size(offset)} of ${format.size(length)}`;
    const rest = isStoring ? "being stored" : `ends ${format.relative(expires)} without a further part`;
    row.querySelector("span").textContent = `${received}, ${rest}`;
    row.querySelector("button")?.toggleAttribute("disabled", isStoring);
  }

  function makeButton(upload) {
    const button = element("button", "btn s", "End");
    button.type = "button";
    button.setAttribute("aria-label", `End ${nameOf(upload)}`);
    button.addEventListener("click", () =>
      confirm({
        title: `End the upload ${nameOf(upload)}?`,
        text: "What has arrived of it is deleted. Nothing of it was stored as a version.",
        action: "End",
        run: () => end(upload),
      }),
    );
    return button;
  }

  async function end(upload) {
    await api.send("DELETE", `/uploads/${encodeURIComponent(upload.id)}`, { headers: { "Tus-Resumable": "1.0.0" } });
    await show();
  }

  // What is shown stays if it cannot be read again; the next turn tries again.
  const turn = () => document.visibilityState === "visible" && show().catch(() => {});
  const timer = setInterval(turn, SECONDS * 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  await show();
}

const nameOf = ({ filename, id }) => filename ?? id;
