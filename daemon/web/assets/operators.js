// The cost of operators in the baseline and the candidate, largest difference first.

import { figureWidth, h, s } from './dom.js';
import { measured, number, plural } from './format.js';
import { table } from './table.js';

const most = 15; // operators in the picture
const rowHeight = 34;
const widest = 760;
const right = 80;

function clip(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function bars(changes) {
  const width = figureWidth(widest);
  const left = width < widest ? 140 : 250;
  const characters = width < widest ? 17 : 38;
  const highest = Math.max(...changes.flatMap((one) => [one.before.ms, one.after.ms]), 1e-9);
  const x = (ms) => ((width - left - right) * ms) / highest;
  return s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${changes.length * rowHeight + 4}`, role: 'img',
    'aria-label': 'Time of each operator in ms per iteration, baseline and candidate; the table below lists the values' },
  changes.map((one, at) => {
    const top = at * rowHeight + 4;
    return [
      s('text', { x: left - 8, y: top + 18, 'text-anchor': 'end' }, clip(one.operator, characters), s('title', null, one.operator)),
      s('rect', { class: 'before', x: left, y: top + 2, height: 12, width: x(one.before.ms) }),
      s('rect', { class: 'after', x: left, y: top + 15, height: 12, width: x(one.after.ms) }),
      s('text', { x: left + x(one.before.ms) + 4, y: top + 12, class: 'quiet-fill' }, `${measured(one.before.ms)} ms`),
      s('text', { x: left + x(one.after.ms) + 4, y: top + 26 }, `${measured(one.after.ms)} ms`),
    ];
  }));
}

const columns = [
  { title: 'Operator', value: (row) => row.operator, cell: (row) => h('code', { class: 'untrusted' }, row.operator) },
  { title: 'Baseline (ms)', number: true, value: (row) => row.before.ms, cell: (row) => measured(row.before.ms), descending: true },
  { title: 'Candidate (ms)', number: true, value: (row) => row.after.ms, cell: (row) => measured(row.after.ms), descending: true },
  { title: 'Difference (ms)', number: true, value: (row) => row.after.ms - row.before.ms, cell: (row) => measured(row.after.ms - row.before.ms), descending: true },
  { title: 'Calls, baseline → candidate', number: true, cell: (row) => `${number(row.before.calls)} → ${number(row.after.calls)}`, narrowHidden: true },
  { title: 'Memory (KiB), baseline → candidate', number: true, cell: (row) => `${number(row.before.bytes / 1024)} → ${number(row.after.bytes / 1024)}`, narrowHidden: true },
];

/** A section for each profiled benchmark. */
export function operatorSections(operators) {
  const benchmarks = new Map();
  for (const one of operators) {
    const key = `${one.benchmark} on ${one.fleet}`;
    benchmarks.set(key, [...(benchmarks.get(key) ?? []), one]);
  }
  return [...benchmarks.entries()].map(([name, changes]) => {
    const sorted = [...changes].sort((one, other) => Math.abs(other.after.ms - other.before.ms) - Math.abs(one.after.ms - one.before.ms));
    return [h('h3', null, name),
      h('p', { class: 'quiet' }, 'Time per iteration in ms: baseline above, candidate below. The operators with the largest differences.'),
      h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Operators of ${name}` }, bars(sorted.slice(0, most))),
      h('details', null, h('summary', null, `All ${plural(sorted.length, 'operator')}`), table(columns, sorted, { caption: 'Cost per iteration, largest difference first' }))];
  });
}
