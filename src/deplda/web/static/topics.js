// Topics: the labels as a map of regions, and the regions as a list.

import { get } from "./api.js";
import { barRow, colour, fail, fill, find, labelLink, later, make, percent } from "./dom.js";
import { chips, companionBars, howGood, howOften, part } from "./labels.js";
import { LabelMap } from "./map.js";
import { t } from "./strings.js";

const IN_LIST = 8, LARGEST = 14, NEAREST = 5, TIED = 6, FOUND = 50;
let data = null, map = null, places = null, asked = 0;

export function startTopics() {
  find("topic-search").addEventListener("input", later(150, () => search().catch(fail)));
  find("closer").addEventListener("click", () => map.zoom(1.6));
  find("farther").addEventListener("click", () => map.zoom(1 / 1.6));
  find("whole").addEventListener("click", () => map.whole());
  addEventListener("resize", later(200, () => map && !find("topics").hidden && map.look(map.view)));
  return async (name) => {
    if (!map) await load();
    if (name && places.has(name)) await showLabel(places.get(name), true);
  };
}

async function load() {
  data = await get("v1/map");
  places = new Map(data.labels.map(({ label }, place) => [label, place]));
  find("topics-said").textContent = data.n_left_out ? `${t("topics.said")} ${t("topics.left-out", { n: data.n_left_out })}` : t("topics.said");
  map = new LabelMap(find("map"), data, { onlabel: (place) => showLabel(place).catch(fail), onregion: showRegion });
  fill(find("region-list"), ...bySize().map(([region, place]) =>
    make("li", { class: "card", "--own": colour(place) },
      make("h3", {}, make("button", { class: "plain", onclick: () => showRegion(place) }, called(region))),
      make("p", { class: "quiet" }, sizeOf(region, place)),
      chips(inRegion(place).slice(0, IN_LIST).map(({ label }) => labelLink(label))))));
  showHow();
}

const showHow = () => fill(find("topic"), make("p", { class: "quiet" }, t("topics.how")));

const called = ({ names }) => names.slice(0, 2).join(" · ");

// Regions by their documents, which are told of each, and their numbers.
const bySize = () => data.regions.map((region, place) => [region, place])
  .sort(([one, place], [other, elsewhere]) => other.together[elsewhere] - one.together[place]);

const inRegion = (place) => data.labels.filter(({ region }) => region === place);

const sizeOf = ({ n_labels: n, together }, place) =>
  t("topics.size", { labels: t("count.labels", { n }), documents: t("count.documents", { n: together[place] }) });

function showRegion(place) {
  const region = data.regions[place], own = inRegion(place);
  clear();
  map.lookAt(region);
  fill(find("topic"),
    make("h2", {}, called(region)),
    make("p", { class: "quiet" }, sizeOf(region, place)),
    part(t("topics.largest"), chips(own.slice(0, LARGEST).map(({ label }) => chooser(label)))),
    part(t("topics.with"), make("ul", { class: "bars" }, ...nearest(place).map(([other, share]) =>
      barRow(regionButton(other), share, percent(share), other)))));
  find("map").scrollIntoView({ block: "nearest" });
}

// The regions that most of a region's documents have labels of, too.
function nearest(place) {
  const { together } = data.regions[place];
  return together.map((n, other) => [other, n / together[place]])
    .filter(([other, share]) => other !== place && share > 0).sort((a, b) => b[1] - a[1]).slice(0, NEAREST);
}

const regionButton = (place) =>
  make("button", { class: "link", onclick: () => showRegion(place) }, called(data.regions[place]));

const chooser = (label) =>
  make("button", { class: "link", onclick: () => showLabel(places.get(label), true).catch(fail) }, label);

async function showLabel(place, look = false) {
  const own = data.labels[place], mine = ++asked;
  map.mark(new Set([place]));
  const label = await get(`v1/labels/${encodeURIComponent(own.label)}`);
  if (mine !== asked) return; // another was chosen meanwhile
  const beside = label.companions.filter((other) => places.has(other.label)).slice(0, TIED);
  map.mark(new Set([place, ...beside.map((other) => places.get(other.label))]));
  map.tie(place, beside.map((other) => [places.get(other.label), other.share]));
  if (look) map.lookAt(around([own, ...beside.map((other) => data.labels[places.get(other.label)])]), 2.5);
  fill(find("topic"),
    make("h2", {}, labelLink(label.label)),
    make("p", { class: "quiet" }, howOften(label)),
    make("p", { class: "quiet" }, `${t("topics.region")}: `, regionButton(own.region)),
    howGood(label),
    part(t("labels.distinctive"), chips(label.distinctive.slice(0, 10).map(({ word }) => word))),
    part(t("labels.beside"), companionBars(label)));
}

// A disc around discs.
function around(discs) {
  const middle = (from, to) => (Math.min(...discs.map(from)) + Math.max(...discs.map(to))) / 2;
  const x = middle((d) => d.x - d.radius, (d) => d.x + d.radius), y = middle((d) => d.y - d.radius, (d) => d.y + d.radius);
  return { x, y, radius: Math.max(40, ...discs.map((d) => Math.hypot(d.x - x, d.y - y) + d.radius)) };
}

// Labels found by any of their names; they are marked on the map.
async function search() {
  const words = find("topic-search").value.trim(), mine = ++asked;
  if (!words) {
    clear();
    showHow();
    return;
  }
  const answer = await get("v1/labels", { search: words.slice(0, 200), sort: "match", size: FOUND });
  if (mine !== asked) return;
  const found = answer.labels.filter(({ label }) => places.has(label));
  map.untie();
  map.mark(new Set(found.map(({ label }) => places.get(label))));
  fill(find("topic"),
    make("h2", { role: "status" }, t("topics.found", { n: answer.total })),
    chips(found.map(({ label }) => chooser(label))));
}

function clear() {
  asked++;
  map.untie();
  map.mark(null);
}
