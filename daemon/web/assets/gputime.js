// The share of time in which each model computes, moves data and idles on a GPU, as in the paper's figures 1 and 2. The suite
// is profiled once a week, and the benchmarks of an incident once more.

import { h, s } from './dom.js';
import { domainText, testText } from './ratiofigures.js';
import { table } from './table.js';

const kinds = [['active', 'Active'], ['data_movement', 'Data movement'], ['idle', 'Idle']];
const width = 430;
const left = 190;
const rowHeight = 19;

function percent(share) {
  return `${(100 * share).toFixed(1)}%`;
}

function bar(row, at) {
  const top = at * rowHeight;
  const length = width - left - 4;
  let from = left;
  return s('g', null,
    s('title', null, `${row.benchmark} on ${row.fleet}, ${row.date}: ${kinds.map(([kind, text]) => `${text.toLowerCase()} ${percent(row[kind])}`).join(', ')}`),
    s('text', { x: left - 6, y: top + 13, 'text-anchor': 'end' }, row.model.slice(0, 26)),
    kinds.map(([kind]) => {
      const part = s('rect', { class: `gpu-${kind}`, x: from, y: top + 3, height: 12, width: length * row[kind] });
      from += length * row[kind];
      return part;
    }));
}

function picture(rows, name) {
  return h('figure', null, h('figcaption', null, name),
    s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${rows.length * rowHeight + 4}`, role: 'img', 'aria-label': `${name}: shares of time; the table below lists the values` },
      rows.map(bar)));
}

/** One picture for training and one for inference, highest share of computing first. */
function pictures([rows, name]) {
  return ['train', 'eval'].map((test) => {
    const text = testText(test);
    const some = rows.filter((row) => row.test === test).sort((one, other) => other.active - one.active);
    return some.length > 0 ? picture(some, name ? `${text}, ${name}` : text) : null;
  });
}

/** The profiles to show, as [rows, name]. One without a name when both sides have the same profile. */
function sidesOf({ before, after }) {
  const isSame = JSON.stringify(before) === JSON.stringify(after);
  return isSame ? [[after, '']] : [[before, 'baseline'], [after, 'candidate']].filter(([rows]) => rows.length > 0);
}

/** Means by test and domain, training first: the paper's table 2. */
function meansOf(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = `${row.test} ${row.domain}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const means = [...groups.values()].map((group) => ({
    test: group[0].test, domain: group[0].domain, count: group.length,
    ...Object.fromEntries(kinds.map(([kind]) => [kind, group.reduce((sum, row) => sum + row[kind], 0) / group.length])),
  }));
  return means.sort((one, other) => testText(other.test).localeCompare(testText(one.test)) || domainText(one.domain).localeCompare(domainText(other.domain)));
}

/** The dates of the profiles: "2026-11-20 and 2026-11-24". */
function datesOf(rows) {
  return [...new Set(rows.map((row) => row.date))].sort().join(' and ');
}

/** The section about GPU time, or null when neither side was profiled. */
export function gpuSection(comparison) {
  const { before, after } = comparison.gpu;
  if (before.length + after.length === 0) return null;
  const sides = sidesOf(comparison.gpu);
  const rows = sides.flatMap(([side, name]) => meansOf(side).map((row) => ({ ...row, side: name })));
  return [
    h('h2', null, 'GPU time by activity'),
    h('p', { class: 'quiet' }, `Share of an iteration's time, profiled on ${datesOf([...before, ...after])}: `, kinds.map(([kind, text], at) => [at > 0 ? ', ' : null, h('span', { class: `key gpu-${kind}` }), ` ${text.toLowerCase()}`])),
    h('div', { class: 'figures' }, sides.map(pictures)),
    table([
      sides.length > 1 ? { title: 'Side', value: (row) => row.side, cell: (row) => row.side } : null,
      { title: 'Test', value: (row) => testText(row.test), cell: (row) => testText(row.test) },
      { title: 'Domain', value: (row) => domainText(row.domain), cell: (row) => domainText(row.domain) },
      ...kinds.map(([kind, text]) => ({ title: text, number: true, value: (row) => row[kind], descending: true, cell: (row) => percent(row[kind]) })),
      { title: 'Tests', number: true, cell: (row) => row.count },
    ].filter(Boolean), rows, { caption: 'Mean shares of time by domain' }),
  ];
}
