// Why one label is suggested, in words.

import { colour, labelLink, make, percent } from "./dom.js";

export function showWhy(place, reason, number) {
  for (const old of document.querySelectorAll(".why")) old.remove();
  if (!place || !reason) return;
  const words = reason.from_words / reason.score;
  place.append(make("div", { class: "why", "--own": colour(number) },
    make("h2", {}, "Why ", labelLink(reason.label), "?"),
    make("p", {}, `${percent(words)} of its score came from its words, ${percent(1 - words)} `
      + (reason.companions.length ? "from the labels it goes with." : "was likely before.")),
    line("Its words", reason.words.map(({ word, tokens }) =>
      make("li", { title: `${tokens.toFixed(1)} of its occurrences` },
        word, make("small", {}, tokens.toFixed(1))))),
    line("It goes with", reason.companions.map(({ label, share }) =>
      make("li", {}, labelLink(label), make("small", {}, percent(share)))))));
}

function line(title, items) {
  if (!items.length) return null;
  return make("div", {}, make("h3", {}, title), make("ul", { class: "chips" }, ...items));
}
