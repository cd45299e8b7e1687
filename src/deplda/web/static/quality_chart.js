// How well labels are found, from rare to frequent: a picture, its caption and its numbers.

import { draw, fixed, make } from "./dom.js";
import { number, t } from "./strings.js";

const WIDTH = 720, HEIGHT = 300, LEFT = 36, TOP = 22, BOTTOM = 62;

export function qualityChart(bands) {
  const measured = bands.filter((band) => band.n_measured);
  const [rare, frequent] = [measured[0], measured.at(-1)];
  const caption = t("model.caption", {
    rare: t("views.trained", { n: rare.most }), low: fixed(rare.average_precision, 2),
    frequent: `${span(frequent)} ${t("model.n_documents")}`, high: fixed(frequent.average_precision, 2),
  });
  return make("figure", { class: "chart" },
    make("h3", {}, t("model.picture")),
    draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${t("model.picture")}. ${caption}` },
      ...axis(), ...bands.flatMap((band, place) => column(band, place, bands.length))),
    make("figcaption", { class: "quiet" }, caption),
    make("details", {}, make("summary", {}, t("model.numbers")), table(bands)));
}

const height = (value) => HEIGHT - BOTTOM - value * (HEIGHT - BOTTOM - TOP);

const axis = () => [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
  draw("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: height(value), y2: height(value) }),
  draw("text", { class: "tick", x: LEFT - 8, y: height(value) + 4, "text-anchor": "end" }, number(value)),
]);

function column(band, place, n) {
  const wide = (WIDTH - LEFT) / n, middle = LEFT + (place + 0.5) * wide, bar = Math.min(wide * 0.62, 70);
  const below = [
    draw("text", { class: "tick strong", x: middle, y: HEIGHT - BOTTOM + 20, "text-anchor": "middle" }, span(band)),
    draw("text", { class: "tick", x: middle, y: HEIGHT - BOTTOM + 38, "text-anchor": "middle" }, number(band.n_labels)),
  ];
  if (place === 0) {
    below.push(draw("text", { class: "tick", x: WIDTH, y: HEIGHT - 4, "text-anchor": "end" },
      `${t("model.documents")} · ${t("model.labels")}`));
  }
  if (!band.n_measured) return below;
  const top = height(band.average_precision);
  return [
    draw("rect", { class: "column", x: middle - bar / 2, y: top, width: bar, height: HEIGHT - BOTTOM - top, rx: 4 }),
    draw("line", { class: "half", x1: middle, x2: middle, y1: height(band.lower), y2: height(band.upper) }),
    draw("text", { class: "value", x: middle + bar / 2 - 3, y: HEIGHT - BOTTOM - 7, "text-anchor": "end" }, fixed(band.average_precision, 2)),
    ...below,
  ];
}

const span = ({ least, most }) => (least === most ? number(least) : `${number(least)}–${number(most)}`);

function table(bands) {
  const head = ["model.documents", "model.labels", "model.measured", "model.mean", "model.half"];
  const cells = (band) => [
    number(band.n_labels), number(band.n_measured),
    band.n_measured ? fixed(band.average_precision, 2) : "–",
    band.n_measured ? `${fixed(band.lower, 2)}–${fixed(band.upper, 2)}` : "–",
  ];
  return make("table", {},
    make("thead", {}, make("tr", {}, ...head.map((key) => make("th", { scope: "col" }, t(key))))),
    make("tbody", {}, ...bands.map((band) => make("tr", {}, make("th", { scope: "row" }, span(band)),
      ...cells(band).map((cell) => make("td", {}, cell))))));
}
