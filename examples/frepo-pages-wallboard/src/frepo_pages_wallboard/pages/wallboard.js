// Shows how all backups are, and again every 30 seconds while the page is visible.

const SECONDS = 30;
const BAD = ["damaged", "overdue", "failed", "full", "suspicious"];
const STATES = [...BAD, "late", "new", "ok"];

const byId = (id) => document.getElementById(id);

/** An element with a text. Texts of others, such as names, are never parsed as HTML. */
function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** Read a resource of the API with the token that the web console keeps for this tab. */
async function read(path) {
  const token = sessionStorage.getItem("frepo.token");
  if (!token) throw new Error("Sign in to the web console in this tab, then open this page from its menu.");
  const answer = await fetch(`../api/v1${path}`, {
    headers: { Authorization: `Bearer ${token}` },
    credentials: "omit",
  });
  if (answer.ok) return answer.json();
  const problem = await answer.json().catch(() => ({}));
  throw new Error(problem.detail ?? `The service answered ${answer.status}.`);
}

function verdict(counts) {
  const bad = BAD.reduce((sum, state) => sum + counts[state], 0);
  if (bad) return `${bad} ${bad === 1 ? "backup needs" : "backups need"} attention`;
  if (!counts.ok) return "Nothing is backed up yet";
  const total = STATES.reduce((sum, state) => sum + counts[state], 0);
  return counts.ok === total ? "All backups are there" : `${counts.ok} of ${total} backups are there`;
}

async function show() {
  const { collections: counts } = await read("/overview");
  const { items } = await read(`/collections?sort=state&limit=8&${BAD.map((state) => `state=${state}`).join("&")}`);
  document.querySelector("h1").textContent = verdict(counts);
  byId("collections").replaceChildren(
    ...items.map((one) => {
      const row = document.createElement("li");
      row.append(element("span", one.name), element("b", one.state));
      return row;
    }),
  );
  byId("states").replaceChildren(
    ...STATES.filter((state) => counts[state]).map((state) => {
      const pair = document.createElement("div");
      pair.append(element("dt", state), element("dd", counts[state]));
      return pair;
    }),
  );
  byId("note").textContent = "";
}

/** What was shown stays when a request fails; the note says why. */
async function refresh() {
  if (document.visibilityState !== "visible") return;
  try {
    await show();
  } catch (error) {
    if (!byId("states").hasChildNodes()) document.querySelector("h1").textContent = "Nothing can be shown";
    byId("note").textContent = error instanceof TypeError ? "The service does not answer." : error.message;
  }
}

document.addEventListener("visibilitychange", refresh);
setInterval(refresh, SECONDS * 1000);
refresh();
