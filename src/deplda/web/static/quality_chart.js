// How well labels are found, from rare to frequent: a picture, its caption and its numbers.

import { draw, fixed, make } from "./dom.js";
import { number, t } from "./strings.js";

const WIDTH = 460, LEFT = 92, RIGHT = 360, TOP = 34, ROW = 26, BAR = 15;

export function qualityChart(bands) {
  const measured = bands.filter((band) => band.n_measured);
  const [rare, frequent] = [measured[0], measured.at(-1)];
  const caption = t("model.caption", {
    rare: trained(rare), low: fixed(rare.average_precision, 2), frequent: trained(frequent), high: fixed(frequent.average_precision, 2),
  });
  return make("figure", { class: "chart" },
    make("h3", {}, t("model.picture")),
    draw("svg", { viewBox: `0 0 ${WIDTH} ${TOP + ROW * bands.length + 20}`, role: "img", "aria-label": `${t("model.picture")}. ${caption}` },
      ...axis(bands.length), ...bands.flatMap(row)),
    make("figcaption", { class: "quiet" }, caption),
    make("details", {}, make("summary", {}, t("model.numbers")), table(bands)));
}

const across = (value) => LEFT + value * (RIGHT - LEFT);

const text = (x, y, told, how = {}) => draw("text", { class: "tick", x, y, "text-anchor": "end", ...how }, told);

const axis = (n) => [
  text(LEFT - 10, 14, t("model.n_documents")),
  text((LEFT + RIGHT) / 2, 14, t("model.mean"), { "text-anchor": "middle" }),
  text(WIDTH, 14, t("model.labels")),
  ...[0, 0.5, 1].flatMap((value) => [
    draw("line", { class: "grid", x1: across(value), x2: across(value), y1: TOP - 10, y2: TOP + ROW * n }),
    text(across(value), TOP + ROW * n + 15, number(value), { "text-anchor": "middle" }),
  ]),
];

function row(band, place) {
  const top = TOP + ROW * place, line = top + BAR / 2, base = line + 4.5;
  const told = [
    text(LEFT - 10, base, span(band), { class: "tick strong" }),
    text(WIDTH, base, number(band.n_labels)),
    text(RIGHT + 38, base, band.n_measured ? fixed(band.average_precision, 2) : "–", { class: "value" }),
  ];
  if (!band.n_measured) return told;
  return [
    draw("rect", { class: "column", x: LEFT, y: top, width: across(band.average_precision) - LEFT, height: BAR, rx: 3 }),
    draw("line", { class: "half", x1: across(band.lower), x2: across(band.upper), y1: line, y2: line }),
    ...told,
  ];
}

const span = ({ least, most }) => (least === most ? number(least) : `${number(least)}–${number(most)}`);

const trained = (band) => t("model.band", { n: band.most, span: span(band) });

function table(bands) {
  const head = ["model.n_documents", "model.labels", "model.measured", "model.mean", "model.half"];
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
