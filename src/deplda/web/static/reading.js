// The text with the words lit that speak for labels, and what a word speaks for.

import { colour, fixed, make } from "./dom.js";
import { litByLabels, litWords } from "./lighting.js";
import { t } from "./strings.js";

const MOST_TOLD = 5;
let shown = { words: new Map(), wordOf: new Map() }; // what is read: words, and which stands where

// A word as it first stands in the text; the model may show another form of it.
export function asWritten(text, spans) {
  const letters = [...text], first = new Map();
  for (const [begin, end, word] of spans) {
    if (!first.has(word)) first.set(word, letters.slice(begin, end).join(""));
  }
  return (word) => first.get(word) ?? word;
}

// Shows the text; returns a function that lights one label's words, or with -1 those of `several`.
export function showReading(place, text, { labels, words, spans, scale }) {
  const letters = [...text]; // the service counts characters, JavaScript counts halves of some
  const whole = new DocumentFragment(), marks = []; // piece by piece: a function takes only so many
  let at = 0;
  for (const [begin, end, word] of spans) {
    const piece = make("mark", { tabindex: -1 }, letters.slice(begin, end).join(""));
    whole.append(letters.slice(at, begin).join(""), piece);
    marks.push({ piece, word, begin });
    at = end;
  }
  whole.append(letters.slice(at).join(""));
  place.replaceChildren(whole);
  place.scrollTop = 0;
  shown = {
    labels, scale, words: new Map(words.map((one) => [one.word, one])),
    wordOf: new Map(marks.map(({ piece, word }) => [piece, word])),
  };
  return (chosen, several) => {
    const chances = labels.map(({ probability }) => probability ?? 1);
    const lit = chosen < 0 ? litByLabels(words, several, chances)
      : new Map([...litWords(words, chosen)].map(([word, how]) => [word, { label: chosen, how }]));
    const names = (chosen < 0 ? several : [chosen])
      .flatMap((label) => (labels[label].named?.places ?? []).map(([first, last]) => ({ label, first, last })))
      .sort((one, other) => one.first - other.first);
    let next = 0, name = null; // a name may stand in a text as often as a word: each is looked at once
    for (const { piece, word, begin } of marks) {
      paint(piece, lit.get(word));
      for (; next < names.length && names[next].first <= begin; next++) {
        if (!name || names[next].last > name.last) name = names[next];
      }
      const isName = name !== null && begin < name.last && (chosen >= 0 || !lit.has(word)); // among all, what is lit is enough
      piece.classList.toggle("of-name", isName);
      if (isName) piece.style.setProperty("--own", colour(name.label));
    }
  };
}

function paint(piece, lit) {
  piece.classList.toggle("lit", Boolean(lit));
  if (!lit) return;
  piece.style.setProperty("--own", colour(lit.label));
  piece.style.setProperty("--how", lit.how.toFixed(2));
}

// What a word speaks for, told at the word: to pointers, and to keys, which go from one lit word to
// the next.
export function startReading(place, tip) {
  const hide = () => { tip.hidden = true; };
  const tell = (piece) => {
    const found = shown.words.get(shown.wordOf.get(piece));
    if (!found) return hide();
    tip.replaceChildren(...told({ ...found, word: piece.textContent }));
    tip.hidden = false;
    putBeside(tip, piece);
  };
  const on = (name, work) => place.addEventListener(name, work);
  on("pointerover", ({ target }) => tell(target));
  on("pointerleave", hide);
  on("focusin", ({ target }) => tell(target));
  on("focusout", hide);
  on("scroll", () => (shown.wordOf.has(document.activeElement) ? tell(document.activeElement) : hide()));
  on("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const lit = [...place.querySelectorAll("mark.lit")], now = lit.indexOf(document.activeElement);
    const next = step && lit[now < 0 && step < 0 ? lit.length - 1 : now + step];
    if (!next) return;
    event.preventDefault();
    next.setAttribute("aria-describedby", tip.id);
    next.focus();
  });
}

function told({ word, times, added }) {
  const { labels, scale } = shown, least = scale === "tokens" ? 0.05 : 0.005; // less is shown as 0
  const strongest = added.map((value, number) => ({ value, number }))
    .filter(({ value }) => Math.abs(value) >= least)
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value)).slice(0, MOST_TOLD)
    .sort((one, other) => other.value - one.value); // those that it speaks for come first
  const head = make("p", {}, make("b", {}, word), times > 1 ? ` × ${times}` : "");
  if (!strongest.length) return [head, make("p", { class: "quiet" }, t("word.nothing"))];
  return [head, make("ul", {}, ...strongest.map(({ value, number }) =>
    make("li", { "--own": colour(number) }, labels[number].label,
      make("small", {}, scale === "tokens" ? fixed(value, 1) : signed(value))))),
  make("p", { class: "quiet" }, t(scale === "tokens" ? "word.tokens" : "word.added"))];
}

export const signed = (value, digits = 2) => (value < 0 ? "" : "+") + fixed(value, digits);

function putBeside(tip, piece) {
  const box = piece.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), innerWidth - own.width - 8);
  const above = box.bottom + own.height + 12 > innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${above ? box.top - own.height - 6 : box.bottom + 6}px`;
}
