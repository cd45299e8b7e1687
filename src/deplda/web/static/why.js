// Why one label is suggested: a sentence in plain words, then the evidence, whose parts add up.

import { chance, colour, fill, fixed, labelLink, make, percent } from "./dom.js";
import { litWords } from "./lighting.js";
import { signed } from "./reading.js";
import { language, t, told } from "./strings.js";

const WORDS_IN_SENTENCE = 3, WORDS_SHOWN = 8, LEAST = 0.05;

// `number` is the label's among all that are explained, `isGiven` whether the model would give it.
export function showWhy(place, explained, number, isGiven) {
  for (const old of document.querySelectorAll(".why")) old.remove();
  const reason = explained?.labels[number];
  if (!reason && explained) place?.append(make("p", { class: "why quiet" }, t("why.hint")));
  if (!place || !reason) return;
  place.append(fill(make("div", { class: "why", "--own": colour(number) }),
    make("h2", {}, ...told("why.title", { label: labelLink(reason.label) })),
    make("p", { class: "in-words" }, ...inWords(explained, number, isGiven)),
    reason.by_name ? make("p", { class: "quiet" }, t("why.by-name")) : null,
    ...(explained.scale === "log-odds" ? byLogOdds(explained, number) : byShares(explained, number)),
    similar(reason.examples ?? [])));
}

// The sentence --------------------------------------------------------------------------------------

function inWords(explained, number, isGiven) {
  const { companions, named } = explained.labels[number];
  const words = [...litWords(explained.words, number).keys()].slice(0, WORDS_IN_SENTENCE);
  const strongest = companions.find(({ share, added }) => (added ?? share) > LEAST);
  const because = [];
  if (words.length) {
    const shown = listed(words.map((word) => make("em", {}, explained.written(word))));
    because.push(told("why.words", { n: words.length, words: shown }));
  }
  if (strongest) because.push(told("why.companion", { label: make("b", {}, strongest.label) }));
  if (named) because.push(told(`why.${namedHow(named)}`, { name: make("em", {}, named.name) }));
  if (!because.length) because.push([t("why.often")]);
  return told(isGiven ? "why.given" : "why.considered", { because: listed(because) });
}

// How a label's name stands in the text: as it is, by a synonym, or in words that stand apart.
const namedHow = ({ is_whole: isWhole, is_synonym: isSynonym }) => (!isWhole ? "apart" : isSynonym ? "synonym" : "name");

// Items as a sentence has them: one, two and three; an item is a node, or several.
function listed(items) {
  const list = new Intl.ListFormat(language, { type: "conjunction" });
  return list.formatToParts(items.map((_, number) => String(number)))
    .flatMap(({ type, value }) => (type === "element" ? items[Number(value)] : value));
}

// A hybrid: what each source adds to the log-odds -----------------------------------------------------

function byLogOdds(explained, number) {
  const reason = explained.labels[number];
  return [
    make("div", { class: "tables" }, sources(explained, number), evidence(explained, number)),
    companions(reason),
    reason.named ? make("p", { class: "named" }, nameInWords(reason.named)) : null,
  ];
}

const OWN = ["likeness", "frequency", "name", "vectors", "neighbours", "calibration"]; // sources shown by themselves
const PLAIN = ["base", "margin", "share"]; // what is left of these is where the label starts

const ofWords = ({ words }, number) => words.reduce((sum, { added }) => sum + added[number], 0);

function sources(explained, number) {
  const { score, parts, companions, other_prior: otherPrior, probability } = explained.labels[number];
  const words = ofWords(explained, number);
  const labels = companions.reduce((sum, { added }) => sum + (added ?? 0), 0) + otherPrior;
  const others = Object.keys(parts).filter((name) => !PLAIN.includes(name));
  const rows = [
    [t("source.words"), words],
    [t("source.companions"), labels],
    ...others.map((name) => [OWN.includes(name) ? t(`source.${name}`) : name, parts[name]]),
  ].filter(([, value]) => Math.abs(value) >= 0.005);
  const start = score - rows.reduce((sum, [, value]) => sum + value, 0);
  const terms = shownTerms(score, [...rows.map(([, value]) => value), start]);
  const most = Math.max(...terms.map(Math.abs), 1e-9);
  const names = [...rows.map(([name]) => name), t("source.start")];
  const row = (name, value) => make("tr", {}, make("th", { scope: "row" }, name),
    make("td", { class: "lean", "aria-hidden": "true" },
      make("i", { class: value < 0 ? "against" : "for", "--share": Math.abs(value) / most })),
    make("td", {}, signed(value)));
  const chanceOf = probability == null ? "" : `, ${t("why.that-is", { chance: chance(probability) })}`;
  return make("table", { class: "sources" },
    make("caption", { title: t("why.log-odds-hint") }, t("why.sources")),
    make("tbody", {}, ...names.map((name, n) => row(name, terms[n]))),
    make("tfoot", {}, make("tr", {}, make("th", { scope: "row", colspan: 2 },
      make("abbr", { title: t("why.log-odds-hint") }, t("why.log-odds")), chanceOf),
    make("td", {}, signed(score)))));
}

// Rounded as the score is; the last takes what rounding leaves, so that they add up as shown.
function shownTerms(score, values) {
  const terms = values.slice(0, -1).map((value) => Number(value.toFixed(2)));
  return [...terms, terms.reduce((rest, value) => rest - value, Number(score.toFixed(2)))];
}

// The words that give most, by the model that they speak in; all others have what is left.
function evidence(explained, number) {
  const strongest = explained.labels[number].evidence.slice(0, WORDS_SHOWN);
  if (!strongest.length) return "";
  const together = shownTerms(ofWords(explained, number), [...strongest.map(({ margin, share }) => margin + share), 0]);
  const row = (word, ...values) => make("tr", {}, make("th", { scope: "row" }, word),
    ...values.map((value) => make("td", {}, value === null ? "" : signed(value))));
  const rest = together.at(-1);
  return make("table", { class: "words" }, make("caption", {}, t("why.by-model")),
    make("thead", {}, make("tr", {}, ...["why.word", "why.svm", "why.topic-model", "why.together"]
      .map((key) => make("th", { scope: "col" }, t(key))))),
    make("tbody", {}, ...strongest.map(({ word, margin, share }, n) =>
      row(explained.written(word), ...shownTerms(together[n], [margin, share]), together[n])),
    Math.abs(rest) < 0.005 ? "" : row(t("why.other-words"), null, null, rest)));
}

// The labels that it goes with; what is left of their part is that of all others.
function companions({ companions: labels, other_prior: rest }) {
  const items = labels.filter(({ added }) => added !== null);
  const others = Math.abs(rest) < 0.005 ? [] : [{ label: null, added: rest }];
  return chips(t("why.with"), items.length ? [...items, ...others] : [],
    ({ label, added }) => [label === null ? t("why.others") : labelLink(label), signed(added)]);
}

function nameInWords(named) {
  const { name, added, places, as_written: written, is_whole: isWhole } = named;
  const form = isWhole && places.length && written !== name ? ` ${t("name.as", { written })}` : "";
  return `${t(`name.${namedHow(named)}`, { name })}${form}: ${signed(added)}`;
}

// A topic model: shares of the score --------------------------------------------------------------------

function byShares({ labels, written }, number) {
  const { score, parts, words, companions } = labels[number];
  const share = score ? Math.round((100 * (parts.words ?? score)) / score) : 0;
  const rest = companions.length ? "why.share-labels" : "why.share-before";
  return [
    make("p", {}, `${t("why.share-words", { share })}${share < 100 ? ` ${t(rest, { share: 100 - share })}` : ""}`),
    chips(t("why.occurrences"), words.slice(0, WORDS_SHOWN), ({ word, tokens }) => [written(word), fixed(tokens, 1)]),
    chips(t("why.with-shares"), companions, ({ label, share: part }) => [labelLink(label), percent(part)]),
  ];
}

function chips(title, items, shown) {
  if (!items.length) return null;
  return make("div", {}, make("h3", {}, title), make("ul", { class: "chips" }, ...items.map((item) => {
    const [name, value] = shown(item);
    return make("li", {}, name, make("small", {}, value));
  })));
}

function similar(examples) {
  if (!examples.length) return null;
  return make("div", {}, make("h3", {}, t("why.examples")), make("ol", { class: "examples" },
    ...examples.map(({ title, similarity }) => make("li", {}, make("bdi", {}, title), make("small", {}, percent(similarity))))));
}
