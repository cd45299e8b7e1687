// Why one label is suggested, in words.

import { colour, labelLink, make, percent } from "./dom.js";

const NAMES = {
  base: "any candidate", margin: "its words in the SVM", share: "the topic model",
  likeness: "documents like it", frequency: "how often it is given", name: "its name",
  vectors: "labels near by vector", neighbours: "the nearest documents", calibration: "calibration",
};

export function showWhy(place, reason, number) {
  for (const old of document.querySelectorAll(".why")) old.remove();
  if (!place || !reason) return;
  place.append(make("div", { class: "why", "--own": colour(number) },
    make("h2", {}, "Why ", labelLink(reason.label), "?"),
    make("p", {}, `${inWords(reason)}.`),
    reason.by_name ? make("p", { class: "quiet" }, "No training document has it.") : null,
    reason.named ? make("p", { class: "named" }, nameInWords(reason.named)) : null,
    ...(reason.evidence.length || reason.named ? [
      line("Its words (added to its log-odds)", reason.evidence,
        ({ word, margin, share }) => [word, signed(margin + share, 2)]),
      line("It goes with (added to its log-odds)", reason.companions,
        ({ label, added }) => [labelLink(label), signed(added, 2)]),
    ] : [
      line("Its words (expected occurrences)", reason.words,
        ({ word, tokens }) => [word, tokens.toFixed(1)]),
      line("It goes with (share in making it likely)", reason.companions,
        ({ label, share }) => [labelLink(label), percent(share)]),
    ])));
}

function nameInWords({ name, added, places, as_written: written, is_synonym: isSynonym, is_whole: isWhole }) {
  const what = `${isSynonym ? "synonym" : "name"} “${name}”`;
  const form = written === name ? "" : `as “${written}”, `;
  const place = places.length ? ` (${form}from character ${places[0][0] + 1})` : "";
  const told = isWhole ? `Its ${what} stands in the text` : `The words of its ${what} stand in the text, but apart`;
  return `${told}${place}: ${signed(added, 2)}.`;
}

const signed = (value, digits) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;

// A topic model's score has two shares; a hybrid's is a sum of terms of either sign.
export const hasShares = ({ parts }) => "prior" in parts;

export function inWords(reason) {
  const { score, parts, companions } = reason;
  if (hasShares(reason)) {
    const words = score ? Math.round((100 * parts.words) / score) : 0;
    return `${words} % of its score came from its words, ${100 - words} % `
      + (companions.length ? "from the labels it goes with" : "was likely before");
  }
  const names = Object.keys(parts);
  const terms = shownTerms(score, Object.values(parts));
  const told = terms.map((value, n) => `${NAMES[names[n]] ?? names[n]} ${signed(value, 2)}`);
  return `Log-odds ${signed(score, 2)}: ${told.join(", ")}`;
}

// Rounded as the score is; the last takes what rounding leaves, so that they add up as shown.
function shownTerms(score, values) {
  const terms = values.slice(0, -1).map((value) => Number(value.toFixed(2)));
  return [...terms, terms.reduce((rest, value) => rest - value, Number(score.toFixed(2)))];
}

function line(title, items, shown) {
  if (!items.length) return null;
  return make("div", {}, make("h3", {}, title), make("ul", { class: "chips" }, ...items.map((item) => {
    const [name, value] = shown(item);
    return make("li", {}, name, make("small", {}, value));
  })));
}
