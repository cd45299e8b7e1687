// Why one label is suggested, in words.

import { colour, fixed, labelLink, make, percent } from "./dom.js";

const NAMES = { svm: "the SVM", topics: "the topic model" };

export function showWhy(place, reason, number) {
  for (const old of document.querySelectorAll(".why")) old.remove();
  if (!place || !reason) return;
  place.append(make("div", { class: "why", "--own": colour(number) },
    make("h2", {}, "Why ", labelLink(reason.label), "?"),
    make("p", {}, `${inWords(reason)}.`),
    line("Its words (expected occurrences)", reason.words,
      ({ word, tokens }) => [word, tokens.toFixed(1)]),
    line("Its words in the SVM (added to its margin)", reason.svm_words,
      ({ word, added }) => [word, `+${added.toFixed(2)}`]),
    line("It goes with (share in making it likely)", reason.companions,
      ({ label, share }) => [labelLink(label), percent(share)])));
}

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
  if (names.length === 1) return `Score ${fixed(score)}, all from ${NAMES[names[0]]}`;
  const terms = shownTerms(score, Object.values(parts));
  const told = terms.map((value, n) => `${NAMES[names[n]]} ${value < 0 ? "" : "+"}${fixed(value)}`);
  return `Score ${fixed(score)}: ${told.join(", ")}`;
}

// Rounded as the score is; the last takes what rounding leaves, so that they add up as shown.
function shownTerms(score, values) {
  const terms = values.slice(0, -1).map((value) => Number(value.toFixed(3)));
  return [...terms, terms.reduce((rest, value) => rest - value, Number(score.toFixed(3)))];
}

function line(title, items, shown) {
  if (!items.length) return null;
  return make("div", {}, make("h3", {}, title), make("ul", { class: "chips" }, ...items.map((item) => {
    const [name, value] = shown(item);
    return make("li", {}, name, make("small", {}, value));
  })));
}
