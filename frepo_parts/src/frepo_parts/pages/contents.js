// The parts of a version as a tree, and what changed since the version before: a dialog of the web console, which
// docs/plugins/console.md of frepo describes.

const PAGE = 100;
const SIGNS = { went: "−", shrank: "↓", appeared: "+", grew: "↑", changed: "≠" };

/** An element with a text. Names in a backup are texts of others, and never parsed as HTML. */
function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

export async function mount(place, { api, format, collection, version }) {
  const path = `/collections/${encodeURIComponent(collection.id)}/versions/v${version.number}`;
  const headers = {};
  const status = element("p", "dim sm");
  status.setAttribute("role", "status");

  /** Reads a path below the version, with its password if it has one. */
  async function read(below) {
    try {
      return await api.send("GET", `${path}/${below}`, { headers });
    } catch (/** @type {any} */ error) {
      if (error.status !== 403 || headers["X-File-Password"]) throw error;
      const password = await askPassword();
      headers["X-File-Password"] = password;
      return read(below);
    }
  }

  function askPassword() {
    const form = element("form", "row wrap");
    const label = element("label", "grow", "Password of the version ");
    const field = element("input", "");
    field.type = "password";
    field.required = true;
    label.append(field);
    form.append(label, element("button", "btn s", "Open"));
    place.append(form);
    return new Promise((done) => {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        form.remove();
        done(field.value);
      });
    });
  }

  async function showFolder(list, parent, cursor = "") {
    const found = await read(`contents?parent=${parent}&limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`);
    list.append(...found.items.map(makeRow));
    if (found.next === null) return;
    const more = element("button", "btn s", "Show more");
    more.type = "button";
    more.addEventListener("click", () => {
      more.remove();
      showFolder(list, parent, found.next).catch(fail);
    });
    list.append(more);
  }

  function makeRow(part) {
    const row = element("li", "");
    const rows = part.rows === null ? "" : `, ${format.count(part.rows)} rows`;
    const target = part.target === null ? "" : ` → ${part.target}`;
    const about = element("span", "dim sm", ` ${format.size(part.size)}${rows}${target}`);
    if (part.parts !== null) {
      const folder = document.createElement("details");
      const summary = element("summary", "", part.name);
      const inside = element("ul", "");
      summary.append(about);
      folder.append(summary, inside);
      folder.addEventListener("toggle", () => showFolder(inside, part.number).catch(fail), { once: true });
      row.append(folder);
      return row;
    }
    row.append(element("span", "", part.name), about);
    if (part.refusal === null) row.append(" ", makeDownload(part));
    return row;
  }

  function makeDownload(part) {
    const button = element("button", "btn s", "Download");
    button.type = "button";
    button.setAttribute("aria-label", `Download ${part.name}`);
    button.addEventListener("click", () => download(part).catch(fail));
    return button;
  }

  async function download(part) {
    const token = sessionStorage.getItem("frepo.token");
    if (!token) throw new Error("Sign in to the web console in this tab, and try again.");
    status.textContent = `Downloading ${part.name} …`;
    const answer = await fetch(new URL(`../api/v1${path}/contents/${part.number}`, import.meta.url), {
      headers: { Authorization: `Bearer ${token}`, ...headers },
      credentials: "omit",
    });
    if (!answer.ok) throw new Error((await answer.json()).detail);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    const given = /filename\*=UTF-8''([^;]+)|filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "");
    link.download = decodeURIComponent(given?.[1] ?? given?.[2] ?? "part");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    status.textContent = `Downloaded ${part.name}.`;
  }

  function fail(error) {
    status.textContent = error.message;
  }

  async function showChanges() {
    const found = await read("changes");
    if (found.state !== "listed" || found.total === 0) return;
    const list = element("ul", "");
    for (const one of found.items) {
      const [before, after] = [one.size_before, one.size].map((size) => (size === null ? "none" : format.size(size)));
      const rows = [one.rows_before, one.rows].map((count) => (count === null ? "none" : format.count(count)));
      const counted = one.rows_before === null && one.rows === null ? "" : `, rows ${rows.join(" → ")}`;
      list.append(element("li", "", `${SIGNS[one.change]} ${one.name} ${one.change}: ${before} → ${after}${counted}`));
    }
    place.append(element("h3", "", `Changed since v${found.since}: ${format.count(found.total)}`), list);
  }

  const found = await read("contents?limit=1");
  if (found.state !== "listed") {
    place.append(element("p", "", found.reason));
    return;
  }
  const list = element("ul", "stack");
  place.append(element("p", "dim", `${found.format}, ${format.count(found.parts)} parts`), list, status);
  await showFolder(list, 0);
  await showChanges().catch(fail);
}
