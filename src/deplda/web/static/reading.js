// The text with its words in the colours of their labels.

import { colour, make, percent } from "./dom.js";

const LEAST = { all: 0.2, one: 0.1 }; // a word that no label, or not this one, has so much of stays plain

// Shows the text; returns a function that lights one label's words, or with -1 all labels' again.
export function showReading(place, text, { labels, words, spans }) {
  const shares = new Map(words.map(({ word, times, tokens }) => [word, tokens.map((n) => n / times)]));
  const letters = [...text]; // the service counts characters, JavaScript counts halves of some
  const pieces = [], marks = [];
  let at = 0;
  const mark = (shown, word) => {
    const piece = make("mark", {}, shown);
    pieces.push(piece);
    marks.push({ piece, shares: shares.get(word) ?? [] });
  };
  for (const [begin, end, word] of spans) {
    pieces.push(letters.slice(at, begin).join(""));
    mark(letters.slice(begin, end).join(""), word);
    at = end;
  }
  pieces.push(letters.slice(at).join(""));
  const light = (number) => {
    for (const one of marks) paint(one, number, labels);
  };
  light(-1);
  place.replaceChildren(...pieces);
  place.scrollTop = 0;
  return light;
}

function paint({ piece, shares }, number, labels) {
  const chosen = number >= 0 ? number : shares.indexOf(Math.max(...shares));
  const share = shares[chosen] ?? 0;
  const shown = share >= (number >= 0 ? LEAST.one : LEAST.all);
  piece.classList.toggle("lit", shown);
  if (shown) {
    piece.style.setProperty("--own", colour(chosen));
    piece.style.setProperty("--how", Math.min(share, 1).toFixed(2));
    piece.title = `${labels[chosen].label}: ${percent(Math.min(share, 1))}`;
  } else {
    piece.removeAttribute("title");
  }
}
