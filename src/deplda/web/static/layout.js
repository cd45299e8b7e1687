// Where the circles of the topic map lie: no two overlap, and topics that share labels attract.

const ROUNDS = 400, QUIET = 80, FILLED = 0.6, ALIKE = 0.08;

// The weight that two topics have in common, for each pair that has any.
export function links(topics) {
  const weights = topics.map((topic) => new Map(topic.labels.map((one) => [one.label, one.probability])));
  const found = [];
  for (let i = 0; i < topics.length; i++) {
    for (let j = i + 1; j < topics.length; j++) {
      let common = 0;
      for (const [label, weight] of weights[i]) common += Math.min(weight, weights[j].get(label) ?? 0);
      if (common > 0.005) found.push([i, j, common]);
    }
  }
  return found;
}

// A name for each topic: its strongest label that no larger topic is called by already.
export function called(topics) {
  const taken = new Set();
  return topics.map((topic) => {
    const names = topic.labels.map((one) => one.label);
    const name = names.slice(0, 5).find((one) => !taken.has(one)) ?? names[0] ?? "a topic";
    taken.add(name);
    return name;
  });
}

// A group for each topic: that of the larger topic it has enough in common with, or one of its own.
export function groups(topics, between) {
  const found = [], founders = new Set();
  topics.forEach((_, number) => {
    const [before] = between
      .filter(([i, j, common]) => j === number && founders.has(i) && common > ALIKE)
      .sort((a, b) => b[2] - a[2]);
    if (!before) founders.add(number);
    found.push(before ? found[before[0]] : founders.size - 1);
  });
  return found;
}

export function placed(topics, between, width, height) {
  const total = topics.reduce((sum, topic) => sum + topic.share, 0) || 1;
  const most = Math.min(width, height) / 6; // a few topics need not fill the map
  const scale = Math.sqrt((FILLED * width * height) / (Math.PI * total));
  const circles = topics.map((topic, number) => {
    const turn = number * 2.39996, far = Math.sqrt((number + 0.5) / topics.length) * 0.45;
    return {
      r: Math.min(most, Math.max(6, scale * Math.sqrt(topic.share))),
      x: width * (0.5 + far * Math.cos(turn)), y: height * (0.5 + far * Math.sin(turn)),
    };
  });
  for (let round = 0; round < ROUNDS; round++) {
    // In the last rounds nothing pulls any more, and what still overlaps finds room.
    const strength = 0.08 * Math.max(0, 1 - round / (ROUNDS - QUIET));
    for (const [i, j, common] of between) pull(circles[i], circles[j], strength * Math.sqrt(common));
    for (const circle of circles) {
      circle.x += (width / 2 - circle.x) * strength * 0.12;
      circle.y += (height / 2 - circle.y) * strength * 0.12;
    }
    part(circles);
    for (const circle of circles) {
      circle.x = Math.max(circle.r + 2, Math.min(width - circle.r - 2, circle.x));
      circle.y = Math.max(circle.r + 2, Math.min(height - circle.r - 2, circle.y));
    }
  }
  return circles;
}

function pull(a, b, strength) {
  const x = (b.x - a.x) * strength, y = (b.y - a.y) * strength;
  a.x += x; a.y += y; b.x -= x; b.y -= y;
}

function part(circles) {
  for (let i = 0; i < circles.length; i++) {
    for (let j = i + 1; j < circles.length; j++) {
      const a = circles[i], b = circles[j];
      const x = b.x - a.x || 0.01, y = b.y - a.y || 0.01, far = Math.hypot(x, y);
      const over = a.r + b.r + 3 - far;
      if (over <= 0) continue;
      const share = b.r / (a.r + b.r); // the smaller one gives way
      a.x -= (x / far) * over * share; a.y -= (y / far) * over * share;
      b.x += (x / far) * over * (1 - share); b.y += (y / far) * over * (1 - share);
    }
  }
}
