// How much the nights of each series differ by themselves: what is noisy costs more pairs, or goes unseen.

import { h } from './dom.js';
import { level, plural } from './format.js';
import { binsOf, histogram } from './histogram.js';
import { seriesAddress } from './links.js';
import { table } from './table.js';

const edges = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

function percent(share) {
  if (share === null) return '–';
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 1)}%`;
}

function edgeText(share) {
  return `${100 * share}%`;
}

function noiseTable(rows, threshold) {
  const share = (name) => (row) => h('span', { class: row[name] > threshold ? 'bad' : null }, percent(row[name]));
  return table([
    { title: 'Series', value: (row) => row.name, cell: (row) => h('a', { href: seriesAddress(row) }, row.name) },
    { title: 'Fleet', value: (row) => row.fleet, cell: (row) => row.fleet },
    { title: 'Night to night', number: true, value: (row) => row.between, cell: share('between'), descending: true },
    { title: 'Within a night', number: true, value: (row) => row.within, cell: share('within'), descending: true },
    { title: 'Level', number: true, value: (row) => row.level, cell: (row) => (row.level === null ? '–' : level(row.level, row.unit)), narrowHidden: true, descending: true },
    { title: 'Nights', number: true, value: (row) => row.nights, cell: (row) => row.nights, narrowHidden: true },
  ], rows, { caption: `${plural(rows.length, 'series', 'series')}, noisiest first. Night to night: spread of the levels; within a night: range of its processes`, sort: 2, descending: true, most: 25 });
}

function drawn(rows, threshold) {
  const known = rows.filter((row) => row.between !== null);
  if (known.length === 0) return [h('p', { class: 'quiet' }, 'None of them has two nights with a level above zero.')];
  const bins = binsOf(known.map((row) => [row.between, 1]), edges, edgeText).map((bin) => ({ ...bin, bad: bin.from >= threshold }));
  return [
    h('figure', { class: 'narrow-figure' }, h('figcaption', null, 'Series by their spread from night to night'), histogram(bins, 'Series by their spread')),
    noiseTable(rows, threshold),
  ];
}

export function noiseSection(all, threshold, query, remember) {
  const heading = h('h2', null, 'Noise of each series');
  if (all.length === 0) return [heading, h('p', { class: 'quiet' }, 'No series has a night yet. The first nightly fills this.')];
  const metrics = [...new Set(all.map((row) => row.metric))];
  const shown = h('div');
  const draw = (metric) => shown.replaceChildren(...drawn(all.filter((row) => row.metric === metric), threshold));
  const chosen = metrics.includes(query.get('metric')) ? query.get('metric') : metrics.find((metric) => metric === 'latency') ?? metrics[0];
  draw(chosen);
  return [heading,
    h('p', { class: 'quiet' }, 'Spread of the last 30 nights, half of which may be anything, so that a change is no noise.'),
    h('div', { class: 'controls' }, h('label', null, 'Metric', h('select', { change: (event) => {
      query.set('metric', event.target.value);
      remember(query);
      draw(event.target.value);
    } }, metrics.map((metric) => h('option', { value: metric, selected: metric === chosen }, metric))))),
    shown];
}
