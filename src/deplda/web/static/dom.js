// Making elements. Text only ever becomes text: nothing here parses HTML.

import { number } from "./strings.js";

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

// A colour for each number, no two alike: hues by the golden angle, in three depths, so that those
// whose hues come close again differ in depth. Each is dark enough on light, light enough on dark.
export function colour(which) {
  const hue = ((which * 137.508 + 255) % 360).toFixed(1), depth = Math.floor(which / 12) % 3;
  const light = `oklch(${[0.5, 0.4, 0.56][depth]} ${[0.15, 0.1, 0.08][depth]} ${hue})`;
  const dark = `oklch(${[0.78, 0.86, 0.7][depth]} ${[0.13, 0.08, 0.07][depth]} ${hue})`;
  return `light-dark(${light}, ${dark})`;
}

export const percent = (share) =>
  share > 0 && share < 0.001 ? `< ${number(0.1)} %`
  : `${number(100 * share, { maximumFractionDigits: share < 0.01 ? 1 : 0 })} %`;

// A probability, which is never quite 0 or 1.
export const chance = (value) =>
  value < 0.01 ? "< 1 %" : value > 0.99 ? "> 99 %" : `${Math.round(100 * value)} %`;

// A number with a true minus sign, and none before a zero.
export function fixed(value, digits = 3) {
  const how = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const minus = value < 0 && Number(value.toFixed(digits)) !== 0 ? "−" : "";
  return minus + number(Math.abs(value), how);
}

export const labelLink = (name) =>
  make("a", { href: `#/labels/${encodeURIComponent(name)}` }, name);

// A name, a bar of its weight and the value, as one row of a list.
export const barRow = (name, share, value, which = 0) =>
  make("li", { class: "bar-row", "--own": colour(which) },
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
