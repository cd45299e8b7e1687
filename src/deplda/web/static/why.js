// Why one label is suggested, in words.

import { colour, labelLink, make, percent } from "./dom.js";

export function showWhy(place, reason, number) {
  for (const old of document.querySelectorAll(".why")) old.remove();
  if (!place || !reason) return;
  place.append(make("div", { class: "why", "--own": colour(number) },
    make("h2", {}, "Why ", labelLink(reason.label), "?"),
    make("p", {}, `${inWords(reason)}.`),
    line("Its words", reason.words.map(({ word, tokens }) =>
      make("li", { title: `${tokens.toFixed(1)} of its occurrences` },
        word, make("small", {}, tokens.toFixed(1))))),
    line("Its words in the SVM", reason.svm_words.map(({ word, added }) =>
      make("li", { title: `adds ${added.toFixed(2)} to the margin` },
        word, make("small", {}, `+${added.toFixed(2)}`)))),
    line("It goes with", reason.companions.map(({ label, share }) =>
      make("li", {}, labelLink(label), make("small", {}, percent(share)))))));
}

// What the score is made of: shares in percent, or terms of either sign with their sum.
export function inWords({ score, parts, companions }) {
  if (!hasShares([{ parts }])) {
    const terms = Object.entries(parts).map(([name, value]) => `${NAMES[name]} ${signed(value)}`);
    return `Score ${score.toFixed(2)}: ${terms.join(", ")}`;
  }
  if (!("prior" in parts)) return `Score ${score.toFixed(3)}, all from ${NAMES[Object.keys(parts)[0]]}`;
  const words = score ? parts.words / score : 0;
  return `${percent(words)} of its score came from its words, ${percent(1 - words)} `
    + (companions.length ? "from the labels it goes with" : "was likely before");
}

const NAMES = { svm: "the SVM", topics: "the topic model" };

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export const hasShares = (reasons) =>
  reasons.every(({ parts }) => Object.values(parts).every((value) => value >= 0));

function line(title, items) {
  if (!items.length) return null;
  return make("div", {}, make("h3", {}, title), make("ul", { class: "chips" }, ...items));
}
