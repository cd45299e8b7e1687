// The label browser: search, and what the model knows of a label.

import { get } from "./api.js";
import { barRow, fail, fill, find, fixed, labelLink, later, make, percent } from "./dom.js";
import { number, t } from "./strings.js";

const SIZE = 50, GOOD = 0.7, FAIR = 0.4;
const GRADES = { good: "labels.good", fair: "labels.fair", poor: "labels.poor" };
let page = 1, shown = "", asked = 0;

export function startLabels() {
  const again = () => search(1).catch(fail);
  find("search").addEventListener("input", later(150, again));
  find("sort").addEventListener("change", again);
  find("more").addEventListener("click", () => search(page + 1).catch(fail));
  return async (name) => {
    find("labels").classList.toggle("one", Boolean(name));
    if (!find("label-list").children.length) await search(1);
    if (!name) fill(find("label"), make("p", { class: "invitation" }, t("labels.choose")));
    markChosen(name && await showLabel(name));
  };
}

async function search(wanted) {
  const mine = ++asked;
  const query = { search: find("search").value.slice(0, 200), sort: find("sort").value };
  const answer = await get("v1/labels", { ...query, page: wanted, size: SIZE });
  if (mine !== asked) return; // a later search is on its way
  page = wanted;
  if (page === 1) find("label-list").replaceChildren(...answer.labels.map(entry));
  else find("label-list").append(...answer.labels.map(entry));
  find("found").textContent = t("count.labels", { n: answer.total });
  find("more").hidden = page * SIZE >= answer.total;
  markChosen(shown);
}

function entry({ label, documents, quality, matched }) {
  const link = labelLink(label);
  if (matched) link.append(make("small", {}, t("labels.matched", { name: matched })));
  const told = quality === null ? "–" : fixed(quality, 2);
  return make("li", {}, link,
    make("span", { class: "times", title: t("views.trained", { n: documents }) }, number(documents)),
    make("span", { class: `meter ${grade(quality)}`, title: `${t("model.mean")}: ${told}` },
      make("i", { "--share": quality ?? 0 }), make("span", { class: "hidden" }, told)));
}

const grade = (quality) => (quality === null ? "none" : quality >= GOOD ? "good" : quality >= FAIR ? "fair" : "poor");

function markChosen(name) {
  shown = name;
  for (const link of find("label-list").querySelectorAll("a")) {
    if (link.firstChild.data === name) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

async function showLabel(name) {
  const label = await get(`v1/labels/${encodeURIComponent(name)}`);
  fill(find("label"),
    make("a", { class: "back", href: "#/labels" }, t("labels.back")),
    make("h2", { class: "label-name" }, label.label),
    make("p", { class: "quiet" }, howOften(label)),
    howGood(label),
    ...inThesaurus(label.concept),
    part(t("labels.distinctive-shares"), bars(label.distinctive.slice(0, 12), (word) => [word.word, word.probability])),
    make("div", { class: "sides" }, ...[byThesaurus(label.concept), byModel(label)].filter(Boolean)),
    part(t("labels.examples"), make("ul", { class: "titles" }, ...label.examples.map(({ title }) => make("li", {}, title)))),
    part(t("labels.words"), chips(label.words.slice(0, 16).map((word) => word.word))));
  return label.label; // which may be in another language than the name
}

const howOften = ({ documents, share }) =>
  documents ? t("labels.share", { trained: t("views.trained", { n: documents }), share: percent(share) }) : t("labels.by-name");

// How well a label is found, in words and as a bar; nothing where no documents were held out.
function howGood({ quality, n_held_out: n }) {
  if (n === null) return null;
  if (quality === null) return make("p", { class: "quiet" }, t("labels.unmeasured"));
  return make("p", { class: "how-good" },
    make("span", { class: `meter ${grade(quality)}`, "aria-hidden": "true" }, make("i", { "--share": quality })),
    make("span", {}, make("strong", {}, t(GRADES[grade(quality)])), " ", t("labels.quality", { n, value: fixed(quality, 2) })));
}

// What the thesaurus says of a label; nothing where the model has none.
function inThesaurus(concept) {
  if (!concept) return [];
  const also = [concept.notation, concept.uri].filter(Boolean).join(" · ");
  return [
    make("p", { class: "quiet" }, also),
    concept.note ? make("p", {}, concept.note) : null,
    part(t("labels.also"), chips(concept.synonyms)),
  ];
}

// The labels next to one, as the thesaurus has them; those that the model knows can be followed.
function byThesaurus(concept) {
  if (!concept) return null;
  const known = new Set(concept.labels);
  const named = (names) => chips(names.map((name) => (known.has(name) ? labelLink(name) : name)));
  return side(t("labels.thesaurus"), t("labels.no-relatives"),
    part(t("labels.broader"), named(concept.broader), "h4"),
    part(t("labels.narrower"), named(concept.narrower), "h4"),
    part(t("labels.related"), named(concept.related), "h4"));
}

const byModel = (label) =>
  side(t("labels.model"), t("labels.alone"), part(t("labels.beside"), companionBars(label), "h4"));

const companionBars = (label) =>
  bars(label.companions, (other) => [labelLink(other.label), other.share, other.documents]);

function side(title, none, ...parts) {
  const some = parts.filter(Boolean);
  return make("section", { class: "side" }, make("h3", {}, title),
    ...(some.length ? some : [make("p", { class: "quiet" }, none)]));
}

function part(title, content, heading = "h3") {
  return content.childNodes.length ? make("div", { class: "part" }, make(heading, {}, title), content) : null;
}

function bars(items, row) {
  const most = Math.max(...items.map((item) => row(item)[1]), 1e-9);
  return make("ul", { class: "bars" }, ...items.map((item) => {
    const [name, share, documents] = row(item);
    const value = documents ? `${percent(share)} · ${number(documents)}` : percent(share);
    return barRow(name, share / most, value);
  }));
}

const chips = (items) =>
  make("ul", { class: "chips" }, ...items.map((content) => make("li", {}, content)));
