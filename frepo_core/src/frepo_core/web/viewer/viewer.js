// Starts Swagger UI with the document of this page. A token that is entered stays in the memory of the page.
"use strict";

const place = document.getElementById("viewer");

// Light or dark as in the web console, else as the system.
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
function applyTheme() {
  const chosen = localStorage.getItem("frepo.theme");
  const isDark = chosen ? chosen === "dark" : systemIsDark.matches;
  document.documentElement.classList.toggle("dark-mode", isDark);
}
applyTheme();
systemIsDark.addEventListener("change", applyTheme);

// The guide is above the endpoints, folded.
const guide = document.getElementById("guide");
guide?.addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("with-guide");
  guide.setAttribute("aria-expanded", String(isOpen));
  guide.textContent = isOpen ? "Hide the guide" : "Read the guide";
});
for (const link of document.querySelectorAll(".bar nav a"))
  if (link instanceof HTMLAnchorElement && link.pathname === location.pathname)
    link.setAttribute("aria-current", "page");

// The search of Swagger UI looks at the names of tags only. This one looks at all texts of an operation.
function textOf(entry, tag) {
  const operation = entry.get("operation");
  const words = ["summary", "description", "operationId"].map((name) => operation.get(name) || "");
  return [tag, entry.get("method"), entry.get("path"), ...words].join(" ").toLowerCase();
}

function findOperations(tags, phrase) {
  const wanted = phrase.toLowerCase();
  return tags
    .map((group, tag) =>
      group.update("operations", (all) => all.filter((entry) => textOf(entry, tag).includes(wanted))),
    )
    .filter((group) => group.get("operations").size > 0);
}

// Answers link to an entry of the list below: `#error-404`, which Swagger UI changes to `#/error-404`.
function showError() {
  const number = /^#\/?error-([0-9]+)$/.exec(location.hash)?.[1];
  for (const entry of document.querySelectorAll(".errors .linked")) entry.classList.remove("linked");
  const entry = number && document.getElementById(`error-${number}`);
  if (!entry) return;
  entry.classList.add("linked");
  entry.scrollIntoView({ block: "center" });
}

SwaggerUIBundle({
  domNode: place,
  url: place?.dataset.document,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [() => ({ fn: { opsFilter: findOperations } })],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
  onComplete() {
    const search = document.querySelector(".operation-filter-input");
    const label = "Search paths and descriptions";
    search?.setAttribute("placeholder", label);
    search?.setAttribute("aria-label", label);
    setTimeout(showError, 100); // when the operations above it are drawn
  },
});
window.addEventListener("hashchange", showError);
