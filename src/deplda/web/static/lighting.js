// Which words are lit, and how brightly: the same rule as in models/lighting.py.
//
// A word counts by what it adds to a label, all its occurrences and forms together. Of the words
// that speak for a label the fewest are lit that make up most of that; the strongest is brightest.

const MOST = 0.8;

// One label's words: word → how brightly, up to 1.
export function litWords(words, label) {
  const speaking = words.filter(({ added }) => added[label] > 0)
    .sort((one, other) => other.added[label] - one.added[label]);
  const whole = speaking.reduce((sum, { added }) => sum + added[label], 0);
  const lit = new Map();
  let sum = 0;
  for (const { word, added } of speaking) {
    if (sum >= MOST * whole) break;
    sum += added[label];
    lit.set(word, added[label] / speaking[0].added[label]);
  }
  return lit;
}

// Several labels' words, each in the colour of the label that it argues most for: word → { label,
// how }. A word counts by the label's probability, too: plain words of unlikely labels stay pale.
export function litByLabels(words, labels, chances) {
  const lit = new Map();
  const added = new Map(words.map((one) => [one.word, one.added]));
  for (const label of labels) {
    for (const word of litWords(words, label).keys()) {
      const how = added.get(word)[label] * chances[label];
      if (how > (lit.get(word)?.how ?? 0)) lit.set(word, { label, how });
    }
  }
  const most = [...lit.values()].reduce((largest, { how }) => Math.max(largest, how), 0);
  for (const one of lit.values()) one.how /= most;
  return lit;
}
