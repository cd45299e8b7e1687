// A field that offers what may be meant while one types, by ARIA's pattern of a combobox.

import { later, make } from "./dom.js";

// `look` finds options for what is typed: [{ name, note, … }]; `take` gets the one that is chosen.
export function combobox(input, list, look, take) {
  let options = [], active = -1, asked = 0;

  const close = () => {
    asked++; // an answer that is still on its way opens nothing
    options = [];
    show();
  };

  function show() {
    list.replaceChildren(...options.map(({ name, note, isFree }, number) =>
      make("li", { id: `${list.id}-${number}`, role: "option", class: isFree ? "free" : null,
        "aria-selected": String(number === active),
        onpointerdown: (event) => event.preventDefault(), // the field keeps the focus
        onclick: () => choose(number) },
      make("span", {}, name), note ? make("small", {}, note) : null)));
    list.hidden = !options.length;
    input.setAttribute("aria-expanded", String(options.length > 0));
    activate(options.length ? 0 : -1);
    if (options.length) list.scrollIntoView({ block: "nearest" });
  }

  function activate(number) {
    active = number;
    [...list.children].forEach((option, n) => option.setAttribute("aria-selected", String(n === number)));
    if (number < 0) return input.removeAttribute("aria-activedescendant");
    input.setAttribute("aria-activedescendant", list.children[number].id);
    list.children[number].scrollIntoView({ block: "nearest" });
  }

  function choose(number) {
    const option = options[number];
    input.value = "";
    close();
    take(option);
  }

  async function offer() {
    const typed = input.value.trim(), number = ++asked;
    const found = typed ? await look(typed) : [];
    if (number !== asked) return; // more has been typed
    options = found;
    show();
  }

  const offerSoon = later(120, offer);
  input.addEventListener("input", offerSoon);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", async (event) => {
    const n = options.length;
    if (event.key === "Escape" && n) {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" && input.value.trim()) {
      event.preventDefault();
      if (!n) await offer(); // Enter came before the answer
      if (options.length) choose(active);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && n) {
      event.preventDefault();
      activate((active + (event.key === "ArrowDown" ? 1 : n - 1)) % n);
    } else if (event.key === "ArrowDown") {
      offer();
    }
  });
}
