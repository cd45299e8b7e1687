// The keys of the Suggest view: what each does, shown once until it is folded away.

import { find, make } from "./dom.js";
import { recall, remember } from "./storage.js";
import { t } from "./strings.js";

const SHOWN = [["A"], ["R"], ["↑", "↓"], ["↵"], ["U"], ["N"], ["P"], ["/"]];
const NAMES = ["accept", "reject", "step", "pin", "undo", "next", "before", "add"];

// `act` has a function for each of NAMES; those of a label get its element.
export function startKeys(view, go, act) {
  find("key-list").append(...SHOWN.map((keys, number) =>
    make("li", {}, ...keys.map((key) => make("kbd", {}, key)), ` ${t(`keys.${NAMES[number]}`)}`)));
  find("keys").open = recall("keys-shown") ?? true;
  // Its event "toggle" comes late: a page that is closed at once would not remember.
  find("keys").querySelector("summary").addEventListener("click", () => remember("keys-shown", !find("keys").open));
  find("use-keys").checked = recall("use-keys") ?? true;
  find("use-keys").addEventListener("change", () => remember("use-keys", find("use-keys").checked));
  document.addEventListener("keydown", (event) => {
    if (view.hidden || find("several").open) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      go();
      return;
    }
    const work = worksOn(event, act);
    if (!work) return;
    event.preventDefault();
    work();
  });
}

function worksOn(event, act) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  if (target === find("another") && key === "Escape") return act.back;
  if (target.closest("textarea, select, input:not([type=checkbox])")) return null;
  const place = target.closest(".suggestion");
  const always = { Escape: act.leave };
  const ofLabel = place ? { ArrowDown: () => act.step(place, 1), ArrowUp: () => act.step(place, -1) } : {};
  const single = {
    u: act.undo, n: act.next, p: act.before, "/": act.add,
    ...(place ? { a: () => act.accept(place), r: () => act.reject(place) } : {}),
  };
  return { ...always, ...ofLabel, ...(find("use-keys").checked ? single : {}) }[key.length === 1 ? key.toLowerCase() : key];
}
