// Making elements. Text only ever becomes text: nothing here parses HTML.

export const find = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  return fill(element, ...children);
}

// What an element holds from now on; null is nothing.
export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null));
  return element;
}

export function draw(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, properties);
  element.append(...children);
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
}

export const colour = (number) => `var(--c${number % 10})`;

export const percent = (share) =>
  share >= 0.995 || share === 0 ? `${Math.round(share * 100)} %`
  : share < 0.001 ? "under 0.1 %"
  : share < 0.01 ? `${(share * 100).toFixed(1)} %`
  : `${Math.round(share * 100)} %`;

// A probability, which is never quite 0 or 1.
export const chance = (value) =>
  value < 0.01 ? "< 1 %" : value > 0.99 ? "> 99 %" : `${Math.round(100 * value)} %`;

// A number with a true minus sign, and none before a zero.
export function fixed(value, digits = 3) {
  const shown = Math.abs(value).toFixed(digits);
  return value < 0 && Number(shown) ? `−${shown}` : shown;
}

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export const labelLink = (name) =>
  make("a", { href: `#/labels/${encodeURIComponent(name)}` }, name);

// A name, a bar of its weight and the value, as one row of a list.
export const barRow = (name, share, value, number = 0) =>
  make("li", { class: "bar-row", "--own": colour(number) },
    make("span", { class: "bar-name" }, name),
    make("span", { class: "bar-value" }, value),
    make("span", { class: "bar", "aria-hidden": "true" },
      make("i", { "--share": Math.min(share, 1) })));

export function later(milliseconds, work) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), milliseconds);
  };
}

// Says what went wrong, to eyes and ears; with null, that all is well again.
export function fail(error) {
  find("failure").textContent = error ? error.message : "";
  find("failure").hidden = !error;
}
