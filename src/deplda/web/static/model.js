// The model card, and how to use the API.

import { get } from "./api.js";
import { fail, fill, find, make } from "./dom.js";
import { saveDescription } from "./export.js";
import { shownToken } from "./token.js";

const NAMES = {
  n_documents: "training documents", n_tokens: "words read", n_labels: "labels",
  n_labels_unused: "labels of no document", cardinality: "labels per document, mean",
  density: "share of all labels that a document has", label_frequency_mean: "documents per label, mean",
  label_frequency_median: "documents per label, median", label_frequency_mode: "documents per label, most often",
  distinct_label_sets: "different label sets", label_set_frequency: "documents per label set, mean",
  unique_label_sets: "share of label sets seen once",
};

export function startModel(model) {
  const words = model.takes_text ? "texts" : "word counts";
  const document = model.takes_text ? '{"text": "…"}' : '{"words": {"…": 1}}';
  const token = shownToken() ? "  -H \"Authorization: Bearer $DEPLDA_TOKEN\" \\\n" : "";
  fill(find("card"),
    make("p", {}, `A ${model.model} of ${model.n_labels.toLocaleString("en")} labels and ${model.n_words.toLocaleString("en")} words, which reads ${words}; served by deplda ${model.library}.`),
    make("div", { class: "pane" }, make("h2", {}, "API"),
      make("pre", { tabindex: "0" }, `curl ${new URL("v1/suggest", location.href).href} \\\n  -H 'Content-Type: application/json' \\\n${token}  -d '{"documents": [${document}], "k": 10}'`),
      make("p", {}, "All of it: ", make("a", { href: "openapi.json", onclick: fetchDescription }, "openapi.json"), ".")),
    table("What it learned from", model.statistics),
    table("How good it is", flat(model.metrics ?? {})),
    table("Hyperparameters as used", model.settings),
    table("Parameters", model.parameters),
    table("Limits of this service", model.limits));
  return async () => {};
}

// A link does not show the token, so the page has to fetch what it leads to.
function fetchDescription(event) {
  if (!shownToken()) return;
  event.preventDefault();
  get("openapi.json").then(saveDescription).catch(fail);
}

function table(title, values) {
  const rows = Object.entries(values);
  if (!rows.length) return null;
  return make("div", { class: "pane" }, make("h2", {}, title),
    make("table", {}, make("tbody", {}, ...rows.map(([name, value]) =>
      make("tr", {}, make("th", { scope: "row" }, NAMES[name] ?? name.replaceAll("_", " ")), make("td", {}, shown(value)))))));
}

// Metrics may be grouped: {"document": {"average_precision": …}}.
function flat(values, before = "") {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) =>
    value && typeof value === "object"
      ? Object.entries(flat(value, `${before}${name} `))
      : [[before + name, value]]));
}

const shown = (value) =>
  value === null ? "–"
  : Number.isInteger(value) ? value.toLocaleString("en")
  : typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: 4 })
  : String(value);
