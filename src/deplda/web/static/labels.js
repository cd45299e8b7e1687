// The label browser: search, and what the model knows of a label.

import { get } from "./api.js";
import { barRow, fail, fill, find, labelLink, later, make, percent, plural } from "./dom.js";

const SIZE = 50;
let page = 1, shown = "", asked = 0;

export function startLabels() {
  const again = () => search(1).catch(fail);
  find("search").addEventListener("input", later(150, again));
  find("sort").addEventListener("change", again);
  find("more").addEventListener("click", () => search(page + 1).catch(fail));
  return async (name) => {
    find("labels").classList.toggle("one", Boolean(name));
    if (!find("label-list").children.length) await search(1);
    if (name) await showLabel(name);
    else find("label").replaceChildren(make("p", { class: "quiet" }, "Choose a label to see its words and companions."));
    markChosen(name);
  };
}

async function search(wanted) {
  const number = ++asked;
  const query = { search: find("search").value.slice(0, 200), sort: find("sort").value };
  const answer = await get("v1/labels", { ...query, page: wanted, size: SIZE });
  if (number !== asked) return; // a later search is on its way
  page = wanted;
  const items = answer.labels.map(({ label, documents }) =>
    make("li", {}, labelLink(label), make("span", { class: "quiet", title: plural(documents, "training document") }, documents.toLocaleString("en"))));
  if (page === 1) find("label-list").replaceChildren(...items);
  else find("label-list").append(...items);
  find("found").textContent = plural(answer.total, "label");
  find("more").hidden = page * SIZE >= answer.total;
  markChosen(shown);
}

function markChosen(name) {
  shown = name;
  for (const link of find("label-list").querySelectorAll("a")) {
    if (link.textContent === name) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

async function showLabel(name) {
  const label = await get(`v1/labels/${encodeURIComponent(name)}`);
  const tells = label.distinctive.length ? label.distinctive : label.words;
  fill(find("label"),
    make("a", { class: "back", href: "#/labels" }, "← All labels"),
    make("h2", { class: "label-name" }, label.label),
    make("p", { class: "quiet" }, `In ${plural(label.documents, "training document")}, ${percent(label.share)} of all.`),
    ...inThesaurus(label.concept),
    make("div", { class: "sides" }, ...[byThesaurus(label.concept), byModel(label)].filter(Boolean)),
    part("Words that tell it from others", bars(tells.slice(0, 12), (word) => [word.word, word.probability], 0)),
    part("Its most frequent words", chips(label.words.slice(0, 16).map((word) => [word.word]))));
}

// What the thesaurus says of a label; nothing where the model has none.
function inThesaurus(concept) {
  if (!concept) return [];
  const also = [concept.notation, concept.uri].filter(Boolean).join(" · ");
  return [
    make("p", { class: "quiet" }, also),
    concept.note ? make("p", {}, concept.note) : null,
    part("Also called", chips(concept.synonyms.map((name) => [name]))),
  ];
}

// The labels next to one, as the thesaurus has them; those that the model knows can be followed.
function byThesaurus(concept) {
  if (!concept) return null;
  const known = new Set(concept.labels);
  const named = (names) => chips(names.map((name) => [known.has(name) ? labelLink(name) : name]));
  return side("By the thesaurus", "No broader, narrower or related terms.",
    part("Broader", named(concept.broader), "h4"),
    part("Narrower", named(concept.narrower), "h4"),
    part("Related", named(concept.related), "h4"));
}

const byModel = (label) =>
  side("By the model", "No labels that go with it.",
    part("Stands beside, in training documents", bars(label.companions, (other) => [labelLink(other.label), other.share, other.documents], 1), "h4"),
    part("Its topics", label.topics.map((topic) => make("div", { class: "topic-line" },
      make("strong", {}, percent(topic.share)),
      chips(topic.labels.slice(0, 8).map((one) => [labelLink(one.label)])))), "h4"));

function side(title, none, ...parts) {
  const shown = parts.filter(Boolean);
  return make("section", { class: "side" }, make("h3", {}, title),
    ...(shown.length ? shown : [make("p", { class: "quiet" }, none)]));
}

function part(title, content, heading = "h3") {
  const items = Array.isArray(content) ? content : [content];
  if (!items.length || !items[0]?.childNodes.length) return null;
  return make("div", { class: "part" }, make(heading, {}, title), ...items);
}

function bars(items, row, number) {
  const most = Math.max(...items.map((item) => row(item)[1]), 1e-9);
  return make("ul", { class: "bars" }, ...items.map((item) => {
    const [name, share, documents] = row(item);
    const value = documents ? `${percent(share)} · ${documents.toLocaleString("en")}` : percent(share);
    return barRow(name, share / most, value, number);
  }));
}

const chips = (items) =>
  make("ul", { class: "chips" }, ...items.map((content) => make("li", {}, ...content)));
