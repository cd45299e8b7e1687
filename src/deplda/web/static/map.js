// The map of the labels: discs in regions, names where there is room for them, moved and zoomed.

import { colour, draw } from "./dom.js";

const CLOSEST = 40, MARGIN = 12, NAMED = 12;
const INSIDE = 170; // pixels: a region with this radius shows the names of its labels

export class LabelMap {
  constructor(svg, data, { onlabel, onregion }) {
    Object.assign(this, { svg, data, onlabel, onregion, pointers: new Map(), moved: 0, marked: new Set() });
    this.ties = draw("g", { class: "ties" });
    this.names = draw("g", { class: "names" });
    this.groups = data.regions.map((region, place) => draw("g", { "--own": colour(place) },
      draw("circle", { class: "region", cx: region.x, cy: region.y, r: region.radius, "data-region": place })));
    this.discs = data.labels.map((label, place) => {
      const disc = draw("circle", { class: "disc", cx: label.x, cy: label.y, r: label.radius, "data-label": place },
        draw("title", {}, label.label));
      this.groups[label.region].append(disc);
      return disc;
    });
    svg.replaceChildren(...this.groups, this.ties, this.names);
    this.listen();
    this.whole();
  }

  get size() {
    return [this.svg.clientWidth || 1, this.svg.clientHeight || 1];
  }

  // Views: a middle, and how many units of the map are as wide as the picture -----------------------

  whole() {
    const right = Math.max(...this.data.regions.map(({ x, radius }) => x + radius), 1);
    const below = Math.max(...this.data.regions.map(({ y, radius }) => y + radius), 1);
    const [width, height] = this.size;
    this.widest = 2 * Math.max(right, below * (width / height)) + MARGIN;
    this.look({ x: 0, y: 0, width: this.widest });
  }

  look(view) {
    const [width, height] = this.size;
    this.view = { ...view, width: Math.min(Math.max(view.width, this.widest / CLOSEST), this.widest) };
    const tall = this.view.width * (height / width);
    this.svg.setAttribute("viewBox",
      [this.view.x - this.view.width / 2, this.view.y - tall / 2, this.view.width, tall].map((n) => n.toFixed(2)).join(" "));
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => this.write());
  }

  // Closer (above 1) or farther, about a point of the map.
  zoom(times, about = this.view) {
    const width = Math.min(Math.max(this.view.width / times, this.widest / CLOSEST), this.widest);
    const share = width / this.view.width;
    this.look({ x: about.x + (this.view.x - about.x) * share, y: about.y + (this.view.y - about.y) * share, width });
  }

  lookAt({ x, y, radius }, room = 2.3) {
    const [width, height] = this.size;
    this.look({ x, y, width: room * radius * Math.max(1, width / height) });
  }

  // What is marked --------------------------------------------------------------------------------

  mark(places) {
    this.svg.classList.toggle("marked", places !== null);
    this.discs.forEach((disc, place) => disc.classList.toggle("found", Boolean(places?.has(place))));
    this.marked = places ?? new Set();
    this.write();
  }

  // Lines from a label to others, the stronger the wider.
  tie(place, others) {
    const from = this.data.labels[place];
    this.ties.replaceChildren(...others.map(([other, weight]) => {
      const to = this.data.labels[other];
      return draw("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, "--weight": weight });
    }));
  }

  untie() {
    this.ties.replaceChildren();
  }

  // Names -----------------------------------------------------------------------------------------

  write() {
    const [width] = this.size, scale = width / this.view.width, written = [];
    const named = this.marked.size <= NAMED ? this.marked : new Set(); // more names would lie on each other
    const taken = new Set([...named].map((place) => this.data.labels[place].region));
    this.data.regions.forEach((region, place) => {
      const isFar = region.radius * scale < INSIDE && !taken.has(place);
      if (isFar && this.sees(region)) written.push(...caption(region.names, region, scale, "region-name"));
    });
    this.data.labels.forEach((label, place) => {
      const region = this.data.regions[label.region], isMarked = named.has(place);
      const isInside = region.radius * scale >= INSIDE && label.radius * scale > 13;
      if ((isInside || isMarked) && this.sees(label)) {
        written.push(...caption([label.label], label, scale, isMarked ? "disc-name marked" : "disc-name", isMarked));
      }
    });
    this.names.replaceChildren(...written);
  }

  sees({ x, y, radius }) {
    const [width, height] = this.size, far = this.view.width / 2 + radius;
    return Math.abs(x - this.view.x) < far && Math.abs(y - this.view.y) < far * Math.max(1, height / width);
  }

  // Hands -----------------------------------------------------------------------------------------

  listen() {
    const { svg } = this;
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 200), this.at(event));
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, event);
      this.moved = 0;
    });
    svg.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    }
    svg.addEventListener("click", ({ target }) => {
      if (this.moved > 6) return; // it was dragged
      if (target.dataset.label) this.onlabel(Number(target.dataset.label));
      else if (target.dataset.region) this.onregion(Number(target.dataset.region));
    });
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const others = [...this.pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId);
    this.pointers.set(event.pointerId, event);
    this.moved += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
    if (others.length) {
      const [other] = others, far = ({ clientX, clientY }) => Math.hypot(clientX - other.clientX, clientY - other.clientY);
      this.zoom(far(event) / Math.max(far(before), 1), this.at(event));
    } else if (this.moved > 6) {
      const unit = this.view.width / this.size[0];
      this.look({ ...this.view, x: this.view.x - (event.clientX - before.clientX) * unit, y: this.view.y - (event.clientY - before.clientY) * unit });
    }
  }

  // Where on the map a pointer is.
  at({ clientX, clientY }) {
    const box = this.svg.getBoundingClientRect(), unit = this.view.width / box.width;
    return { x: this.view.x + (clientX - box.left - box.width / 2) * unit, y: this.view.y + (clientY - box.top - box.height / 2) * unit };
  }
}

// Names in lines about the middle of a disc, as many as it has room for; the first is the boldest.
function caption(names, { x, y, radius }, scale, kind, always = false) {
  const room = radius * scale, size = Math.max(10, Math.min(15, room / 4.5));
  const fits = Math.max(always ? 18 : 5, Math.floor((room * 1.9) / (size * 0.56)));
  const most = Math.max(1, Math.floor((room * 1.5) / (size * 1.2)));
  const told = room < 40 ? names.slice(0, 1) : names;
  const lines = told.flatMap((name, place) => wrapped(name, fits).map((text) => ({ text, place }))).slice(0, most);
  return lines.map(({ text, place }, line) => draw("text", {
    class: place ? `${kind} other` : kind, x, y: y + (((line - (lines.length - 1) / 2) * 1.2 + 0.35) * size) / scale,
    "font-size": (size / scale).toFixed(3), "stroke-width": (3 / scale).toFixed(3),
  }, text));
}

function wrapped(name, fits) {
  const lines = [""];
  for (const word of name.split(/\s+/)) {
    const last = lines.at(-1);
    if (!last || last.length + word.length < fits) lines[lines.length - 1] = last ? `${last} ${word}` : word;
    else lines.push(word);
  }
  return lines.map((line) => (line.length > fits + 2 ? `${line.slice(0, fits)}…` : line));
}
