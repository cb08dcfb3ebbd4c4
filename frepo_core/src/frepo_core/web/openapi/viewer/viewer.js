// Starts Swagger UI with the document of this page. A token that is entered stays in the memory of the page.
"use strict";

const place = document.getElementById("viewer");

// The search of Swagger UI looks at the names of tags only. This one looks at all texts of an operation.
function textOf(entry, tag) {
  const operation = entry.get("operation");
  const words = ["summary", "description", "operationId"].map((name) => operation.get(name) || "");
  return [tag, entry.get("method"), entry.get("path"), ...words].join(" ").toLowerCase();
}

function find(tags, phrase) {
  const wanted = phrase.toLowerCase();
  return tags
    .map((group, tag) =>
      group.update("operations", (all) => all.filter((entry) => textOf(entry, tag).includes(wanted))))
    .filter((group) => group.get("operations").size > 0);
}

// Answers link to the list of errors in the guide: `#error-404`, which Swagger UI changes to `#/error-404`.
function showError() {
  const number = /^#\/?error-([0-9]+)$/.exec(location.hash)?.[1];
  const codes = number ? document.querySelectorAll(".info li > code:first-child") : [];
  for (const code of codes) {
    code.parentElement.classList.toggle("linked", code.textContent === number);
    if (code.textContent === number) code.parentElement.scrollIntoView({ block: "center" });
  }
}

SwaggerUIBundle({
  domNode: place,
  url: place.dataset.document,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [() => ({ fn: { opsFilter: find } })],
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
    if (search) {
      search.placeholder = "Search paths and descriptions";
      search.setAttribute("aria-label", search.placeholder);
    }
    setTimeout(showError, 100); // when the guide is drawn
  },
});
window.addEventListener("hashchange", showError);
