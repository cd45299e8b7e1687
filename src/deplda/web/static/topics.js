// Topics: labels that go together, as a map and as a list.

import { get } from "./api.js";
import { barRow, colour, draw, fail, find, labelLink, later, make, percent, plural } from "./dom.js";
import { called, groups, links, placed } from "./layout.js";

const ON_MAP = 60, IN_LIST = 24;
let topics = [], names = [], colours = [], everything = false;

export function startTopics() {
  find("topic-set").addEventListener("change", () => load().catch(fail));
  find("topic-search").addEventListener("input", later(120, showFound));
  find("more-topics").addEventListener("click", () => { everything = true; showFound(); });
  addEventListener("resize", later(200, () => find("topics").hidden || showMap()));
  return async () => {
    if (topics.length) showMap();
    else await load();
  };
}

async function load() {
  const set = find("topic-set").value || 0;
  const answer = await get("v1/topics", { set, size: 200 });
  topics = answer.topics;
  names = called(topics);
  find("topics-said").textContent =
    `${plural(answer.total, "topic")}: labels that often stand on the same documents. A larger circle is a larger share of all labels given; near circles share labels.`;
  if (!find("topic-set").children.length) {
    find("topic-set").append(...Array.from({ length: answer.n_sets }, (_, n) =>
      make("option", { value: n }, `set ${n + 1} of ${answer.n_sets}`)));
    find("topic-set").hidden = answer.n_sets < 2;
  }
  showMap();
  showFound();
  choose(0);
}

// The map -----------------------------------------------------------------------------------------

function showMap() {
  const map = find("map"), width = map.clientWidth;
  const shown = topics.slice(0, width < 500 ? 28 : ON_MAP);
  const height = width < 500 ? Math.round(width * 1.35) : Math.round(width * 0.72);
  const between = links(shown);
  colours = groups(shown, between);
  map.setAttribute("viewBox", `0 0 ${width} ${height}`);
  map.replaceChildren(...placed(shown, between, width, height).map((circle, number) =>
    draw("g", { class: "bubble", "--own": colour(colours[number]),
      transform: `translate(${circle.x.toFixed(1)} ${circle.y.toFixed(1)})`,
      onclick: () => choose(number), onpointerenter: () => choose(number) },
    draw("title", {}, topics[number].labels.map((one) => one.label).join(", ")),
    draw("circle", { r: circle.r.toFixed(1) }),
    ...caption(names[number], circle.r))));
  mark();
}

// The name in up to three lines, as far as it fits into the circle.
function caption(name, radius) {
  if (radius < 19) return [];
  const size = Math.max(9.5, Math.min(14, radius / 3.6)), wide = name === name.toUpperCase() ? 0.68 : 0.55;
  const fits = Math.floor((radius * 1.8) / (size * wide));
  const lines = [""];
  for (const word of name.split(/\s+/)) {
    const last = lines.at(-1);
    if (!last || last.length + word.length < fits) lines[lines.length - 1] = last ? `${last} ${word}` : word;
    else lines.push(word);
  }
  const most = Math.max(1, Math.floor((radius * 1.5) / (size * 1.15)));
  const kept = lines.slice(0, most).map((line) => line.length > fits ? `${line.slice(0, fits - 1)}…` : line);
  if (lines.length > most && !kept.at(-1).endsWith("…")) kept[kept.length - 1] += "…";
  return kept.map((line, number) => draw("text", {
    y: ((number - (kept.length - 1) / 2) * size * 1.15 + size * 0.35).toFixed(1), "font-size": size.toFixed(1),
  }, line));
}

// One topic ---------------------------------------------------------------------------------------

let chosen = 0;

function choose(number) {
  chosen = number;
  const topic = topics[number];
  if (!topic) return;
  const most = Math.max(...topic.labels.map((one) => one.probability), 1e-9);
  find("topic").replaceChildren(
    make("h2", {}, names[number]),
    make("p", { class: "quiet" }, `Topic ${topic.topic + 1}, ${percent(topic.share)} of all labels given.`),
    make("ul", { class: "bars" }, ...topic.labels.map((one) =>
      barRow(labelLink(one.label), one.probability / most, percent(one.probability), colours[number] ?? 0))));
  mark();
}

// The list ----------------------------------------------------------------------------------------

const wanted = () => find("topic-search").value.trim().toLowerCase();

const matches = (topic, words) => topic.labels.some((one) => one.label.toLowerCase().includes(words));

function showFound() {
  const words = wanted();
  const found = topics.map((topic, number) => ({ topic, number })).filter(({ topic }) => matches(topic, words));
  const some = everything || words ? found : found.slice(0, IN_LIST);
  find("topic-list").replaceChildren(...some.map(({ topic, number }) =>
    make("li", { class: "card", "--own": colour(colours[number] ?? 0),
      onpointerenter: () => choose(number), onfocusin: () => choose(number) },
    make("p", { class: "quiet" }, `${percent(topic.share)} of all labels given`),
    make("ul", { class: "chips" }, ...topic.labels.slice(0, 8).map((one) =>
      make("li", {}, labelLink(one.label)))))));
  if (!found.length) find("topic-list").append(make("li", { class: "quiet" }, "No topic has such a label among its strongest."));
  find("more-topics").hidden = some.length === found.length;
  find("more-topics").textContent = `Show all ${found.length}`;
  mark();
}

function mark() {
  const words = wanted();
  [...find("map").children].forEach((bubble, number) => {
    bubble.classList.toggle("chosen", number === chosen);
    bubble.classList.toggle("aside", Boolean(words) && !matches(topics[number], words));
  });
}
