// The suggested labels of a document, the line where the model would stop, and the labels accepted.

import { accepted, keyOf } from "./documents.js";
import { chance, colour, fill, find, make } from "./dom.js";
import { t } from "./strings.js";

export const items = () => [...find("suggestions").querySelectorAll(".suggestion")];

// `act` is what happens: { look(number), leave(), pin(number), decide(number, said) }.
export function showSuggestions({ suggestions, nGiven }, act) {
  const shown = suggestions.map((one, number) => item(one, number, act));
  if (nGiven !== null && shown.length) shown.splice(nGiven, 0, line(nGiven, shown.length));
  find("suggestions").replaceChildren(...shown);
  find("suggestions").onpointerleave = act.leave;
}

function item({ label, probability, notation, by_name: byName }, number, act) {
  const isTold = probability !== undefined;
  const button = (said, key, sign) => make("button", {
    class: said === "accepted" ? "accept" : "reject", title: t(`${key}.short`), "aria-pressed": "false",
    "aria-label": t(key, { label }), onclick: () => act.decide(number, said),
  }, sign);
  return fill(make("li", { class: "suggestion", "--own": colour(number), onpointerenter: () => act.look(number),
    onfocusin: () => act.look(number) }),
  make("button", { class: "name", "aria-pressed": "false", onclick: () => act.pin(number) }, label,
    isTold ? make("span", { class: "hidden" }, `, ${chance(probability)}`) : ""),
  make("span", { class: "score", "aria-hidden": "true" }, isTold ? chance(probability) : ""),
  button("accepted", "labels.accept", "✓"), button("rejected", "labels.reject", "✕"),
  isTold ? make("span", { class: "bar", "aria-hidden": "true" }, make("i", { "--share": probability })) : null,
  notation || byName ? make("span", { class: "note" }, [notation, byName ? t("labels.never") : null].filter(Boolean).join(" · ")) : null,
  make("div", { class: "why-here" }));
}

function line(nGiven, n) {
  const told = !nGiven ? t("line.none") : nGiven > n ? t("line.more", { n: nGiven - n }) : t("line.here");
  return make("li", { class: "line" }, make("span", {}, told));
}

export function showDecisions(document) {
  items().forEach((place, number) => {
    const said = document.decisions.get(keyOf(document.suggestions[number]))?.said ?? "open";
    place.dataset.decision = said;
    place.querySelector(".accept").setAttribute("aria-pressed", String(said === "accepted"));
    place.querySelector(".reject").setAttribute("aria-pressed", String(said === "rejected"));
  });
}

// The labels accepted, each to be taken away; the focus goes to the next one then.
export function showAccepted(document, takeAway) {
  const found = accepted(document), place = find("accepted");
  const take = (one, number) => {
    takeAway(one);
    const buttons = place.querySelectorAll("button");
    (buttons[Math.min(number, buttons.length - 1)] ?? find("another")).focus();
  };
  place.replaceChildren(...found.map((one, number) =>
    make("li", { class: one.isFree ? "free" : null }, one.label,
      one.isFree ? make("small", {}, t("labels.free")) : "",
      make("button", { "aria-label": t("labels.take-away", one), title: t("labels.take-away.short"),
        onclick: () => take(one, number) }, "✕"))));
  if (!found.length) place.append(make("li", { class: "none" }, t("tray.none")));
  find("copy").disabled = !found.length;
}
