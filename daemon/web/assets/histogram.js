// A histogram.

import { s } from './dom.js';

const width = 430;
const height = 170;
const foot = 24;
const head = 18;

/** Counts `values`, [value, count], in bins between `edges`. The first bin starts at 0, the last has no end. `text(edge)`: its label. */
export function binsOf(values, edges, text) {
  const bins = [...edges, Infinity].map((to, at) => ({ to, count: 0, label: to === Infinity ? `> ${text(edges.at(-1))}` : `≤ ${text(to)}`, from: at === 0 ? 0 : edges[at - 1] }));
  for (const [value, count] of values) bins.find((bin) => value <= bin.to).count += count;
  return bins;
}

/** Draws `bins`: {label, count, bad}. `name`: the title for screen readers. */
export function histogram(bins, name) {
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  const step = width / bins.length;
  const y = (count) => head + (height - head - foot) * (1 - count / most);
  return s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${name}: ${bins.map((bin) => `${bin.label}: ${bin.count}`).join(', ')}` },
    bins.map((bin, at) => s('g', null,
      s('title', null, `${bin.label}: ${bin.count.toLocaleString()}`),
      s('rect', { class: bin.bad ? 'bar-bad' : 'bar-plain', x: at * step + 2, width: step - 4, y: y(bin.count), height: height - foot - y(bin.count) }),
      bin.count > 0 ? s('text', { x: (at + 0.5) * step, y: y(bin.count) - 4, 'text-anchor': 'middle' }, bin.count.toLocaleString()) : null,
      s('text', { class: 'quiet-fill small', x: (at + 0.5) * step, y: height - 8, 'text-anchor': 'middle' }, bin.label))),
    s('line', { class: 'zero', x1: 0, x2: width, y1: height - foot, y2: height - foot }));
}
