// The model card: how good it is, what it learned from, its parameters, and how to use the API.

import { get } from "./api.js";
import { fail, fill, find, fixed, make, percent } from "./dom.js";
import { saveDescription } from "./export.js";
import { qualityChart } from "./quality_chart.js";
import { languageName, number, t } from "./strings.js";
import { shownToken } from "./token.js";

export function startModel(model) {
  fill(find("card"),
    make("p", { class: "lead" }, t("model.said", {
      model: model.model, version: model.library, what: t(model.takes_text ? "model.texts" : "model.counts"),
      labels: t("count.labels", { n: model.n_labels }), words: t("count.words", { n: model.n_words }),
    })),
    howGood(model),
    make("div", { class: "card-page" },
      table(t("model.trained-on"), trainedOn(model)),
      table(t("model.parameters"), parameters(model), { "class": "code" }),
      make("div", { class: "pane" }, make("h2", {}, t("model.api")),
        make("pre", { tabindex: "0" }, command(model)),
        make("p", {}, t("model.all"), make("a", { href: "openapi.json", onclick: fetchDescription }, "openapi.json"))),
      table(t("model.limits"), Object.entries(model.limits), { "class": "code" })));
  return async () => {};
}

function howGood(model) {
  const { held_out: reached, calibration, by_frequency: bands, metrics } = model;
  const measured = bands.filter((band) => band.n_measured);
  const tested = metrics?.headline;
  return make("div", { class: "pane how-good-pane" },
    make("h2", {}, t("model.good")),
    make("p", { class: "quiet" }, reached ? heldOut(reached) : t("model.unmeasured")),
    make("div", { class: "how-good-parts" }, reached ? make("ul", { class: "figures" },
      figure(percent(1 - reached.one_error / 100), t("model.first")),
      figure(percent(reached["precision@5"]), t("model.five")),
      ...(calibration ? [figure(percent(calibration.error), t("model.off"))] : [])) : "",
    measured.length ? qualityChart(bands) : ""),
    tested?.right ? make("p", { class: "quiet" }, `${t("model.tested", { n: tested.documents })}: ${t("model.mean")} ${fixed(tested.average_precision.value, 2)}.`) : "");
}

function heldOut({ documents: n, documents_held_out: all = n }) {
  return `${t("model.held-out", { n })}${all > n ? ` ${t("model.not-judged", { n: all - n })}` : ""}`;
}

const figure = (value, what) => make("li", {}, make("strong", {}, value), make("span", {}, what));

function trainedOn({ statistics, n_words: words, text }) {
  const known = { ...statistics, n_words: words };
  const told = ["n_documents", "n_labels", "cardinality", "label_frequency_median", "n_words", "n_tokens"];
  const rows = told.filter((name) => known[name] != null).map((name) => [t(NAMES[name]), known[name]]);
  if (known.unique_label_sets != null) rows.push([t("model.unique_label_sets"), percent(known.unique_label_sets)]);
  if (text?.language) rows.push([t("model.language"), languageName(text.language)]);
  return rows;
}

const NAMES = {
  n_documents: "model.n_documents", n_labels: "model.n_labels", cardinality: "model.cardinality",
  label_frequency_median: "model.label_frequency_median", n_words: "model.n_words", n_tokens: "model.n_tokens",
};

// Each parameter once: as it was given, or as it is used where that was left to a rule.
function parameters({ parameters: given, settings, text }) {
  const used = (name) => (given[name] === "auto" && name in settings
    ? t("model.chosen", { value: shown(settings[name]) }) : given[name] ?? settings[name]);
  const rows = [...new Set([...Object.keys(given), ...Object.keys(settings)])].sort().map((name) => [name, used(name)]);
  return [...rows, ...Object.entries(text ?? {}).filter(([name]) => name !== "language")];
}

function command(model) {
  const document = model.takes_text ? '{"text": "…"}' : '{"words": {"…": 1}}';
  const token = shownToken() ? "  -H \"Authorization: Bearer $DEPLDA_TOKEN\" \\\n" : "";
  return `curl ${new URL("v1/suggest", location.href).href} \\\n  -H 'Content-Type: application/json' \\\n${token}  -d '{"documents": [${document}]}'`;
}

// A link does not show the token, so the page has to fetch what it leads to.
function fetchDescription(event) {
  if (!shownToken()) return;
  event.preventDefault();
  get("openapi.json").then(saveDescription).catch(fail);
}

const table = (title, rows, how = {}) =>
  make("div", { class: "pane" }, make("h2", {}, title),
    make("table", how, make("tbody", {}, ...rows.map(([name, value]) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, shown(value)))))));

const shown = (value) =>
  value == null ? "–"
  : Number.isInteger(value) ? number(value)
  : typeof value === "number" ? number(value, { maximumSignificantDigits: 4 })
  : String(value);
