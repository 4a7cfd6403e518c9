// The suite's ratios: one figure per test and metric, and a table of geometric means by domain.

import { h } from './dom.js';
import { levels, plural } from './format.js';
import { ratioBars, ratioText } from './ratiobars.js';
import { table } from './table.js';

const testNames = { train: 'Training', eval: 'Inference' };
const domains = {
  COMPUTER_VISION: 'Computer vision', NLP: 'NLP', RECOMMENDATION: 'Recommendation', REINFORCEMENT_LEARNING: 'Reinforcement learning',
  SPEECH: 'Speech', OTHER: 'Other',
};
/** By native metric: the heading of a column, and the title of a figure with the paper's short name. */
const nativeNames = {
  latency: ['Time', 'Execution time (T)'], cmem: ['CPU memory', 'Peak CPU memory (CM)'], gmem: ['GPU memory', 'Peak GPU memory (GM)'], leak: ['Leak', 'Memory not freed'],
};
const alike = 0.0005; // differences that three decimals do not show

/** The heading of a metric's column. */
export function metricText(metric) {
  return nativeNames[metric]?.[0] ?? metric;
}

/** The title of a metric's figure. */
function figureTitle({ metric, better }) {
  return `${nativeNames[metric]?.[1] ?? metric}${better === 'higher' ? ', higher is better' : ''}`;
}

/** The heading of a column of ratios. */
export function ratioHeading({ metric, better }) {
  return `${metricText(metric)} ratio${better === 'higher' ? ' (higher is better)' : ''}`;
}

/** The metrics that have a ratio: {metric, unit, better}, in the order of the service. */
export function metricsWithRatio({ metrics, rows }) {
  return metrics.filter(({ metric }) => rows.some((row) => row.metrics[metric]?.ratio));
}

/** The name of a test: "Training". Tests of other suites keep theirs. */
export function testText(test) {
  return testNames[test] ?? test;
}

/** The tests of a comparison, [word, name] each: training and inference first, then others by word. */
function testsOf({ rows }) {
  const own = [...new Set(rows.map((row) => row.test))].filter((test) => !testNames[test]).sort();
  return [...Object.entries(testNames), ...own.map((test) => [test, test])];
}

/** The name of a domain. The user's own models have none. */
export function domainText(domain) {
  return domain === null ? 'Own models' : domains[domain] ?? domain;
}

/** The fleet, device and backend of a row, if both sides agree: "fleet lab, device cpu, backend eager". */
export function placeText(row) {
  return ['fleet', 'device', 'backend'].filter((word) => row[word]).map((word) => `${word} ${row[word]}`).join(', ');
}

/** Splits the comparison by fleet, device and backend: their ratios must not be mixed. */
export function byPlace(comparison) {
  const places = [...new Set(comparison.rows.map(placeText))].sort();
  const at = (rows, place) => rows.filter((row) => placeText(row) === place);
  return places.map((place) => ({ ...comparison, place, rows: at(comparison.rows, place), means: at(comparison.means, place) }));
}

function meanOf(comparison, domain, test, metric) {
  return comparison.means.find((mean) => mean.domain === domain && mean.test === test && mean.metric === metric);
}

function domainsOf(comparison) {
  return [...new Set(comparison.means.map((mean) => mean.domain))].filter(Boolean)
    .sort((one, other) => domainText(one).localeCompare(domainText(other)));
}

/** Means of all models and by domain, for each test. */
export function meansTable(comparison) {
  const all = metricsWithRatio(comparison);
  const rows = testsOf(comparison).flatMap(([test, text]) => [null, ...domainsOf(comparison)].map((domain) => ({
    test: text, domain, means: Object.fromEntries(all.map(({ metric }) => [metric, meanOf(comparison, domain, test, metric)])),
  }))).filter((row) => Object.values(row.means).some(Boolean));
  return table([
    { title: 'Test', value: (row) => row.test, cell: (row) => row.test },
    { title: 'Domain', value: (row) => row.domain ?? '', cell: (row) => (row.domain ? domainText(row.domain) : h('b', null, 'All')) },
    ...all.map((one) => ({
      title: ratioHeading(one), number: true, descending: true, value: (row) => row.means[one.metric]?.ratio, cell: (row) => ratioText(row.means[one.metric]?.ratio),
    })),
    { title: 'Tests', number: true, cell: (row) => Math.max(...Object.values(row.means).map((mean) => mean?.benchmarks ?? 0)) },
  ], rows, { caption: `Geometric means of the ratios candidate / baseline${comparison.place ? ` on ${comparison.place}` : ''}. Time is the execution time, memory the peak`, empty: 'No ratios: no metric is above zero on both sides.' });
}

function inOrder(rows, order) {
  const sorted = [...rows].sort((one, other) => one.model.localeCompare(other.model));
  if (order === 'model') return sorted;
  if (order === 'domain') return sorted.sort((one, other) => domainText(one.domain).localeCompare(domainText(other.domain)));
  return sorted.sort((one, other) => (other.metrics[order]?.ratio ?? 0) - (one.metrics[order]?.ratio ?? 0));
}

function barOf(row, { metric, unit, better }) {
  const { before, after, ratio } = row.metrics[metric];
  return { label: row.model, ratio, better, title: `${row.test} ${row.model}, ${domainText(row.domain)}: ${levels(before, after, unit)}, ratio ${ratioText(ratio)}` };
}

function meanBar(comparison, domain, test, { metric, better }) {
  const mean = meanOf(comparison, domain, test, metric);
  return mean ? [{ label: domain ? domainText(domain) : 'All', ratio: mean.ratio, better, strong: true, title: `Geometric mean of ${plural(mean.benchmarks, 'test')}: ${ratioText(mean.ratio)}` }] : [];
}

/** The bars of a figure. Each mean is above its models. */
function barsOf(comparison, test, metric, order) {
  const rows = inOrder(comparison.rows.filter((row) => row.test === test && row.metrics[metric.metric]?.ratio), order);
  const bars = meanBar(comparison, null, test, metric);
  let domain;
  for (const row of rows) {
    if (order === 'domain' && row.domain !== domain && row.domain) bars.push(...meanBar(comparison, row.domain, test, metric));
    domain = row.domain;
    bars.push(barOf(row, metric));
  }
  return bars;
}

function pictureOf(bars, name) {
  const models = bars.filter((bar) => !bar.strong);
  if (models.every((bar) => Math.abs(bar.ratio - 1) < alike)) return h('p', { class: 'quiet' }, `No difference: the ratio of ${plural(models.length, 'model')} is 1.000.`);
  return ratioBars(bars, `${name}: ratio of candidate to baseline, one bar per model; the table below lists the values`);
}

function figure(comparison, [test, text], metric, order) {
  const bars = barsOf(comparison, test, metric, order);
  if (bars.length === 0) return null;
  const name = figureTitle(metric);
  return h('figure', null, h('figcaption', null, `${name}, candidate / baseline`), pictureOf(bars, `${text}, ${name}`));
}

/** A heading per test and a figure per metric. Links are in the table of all values. */
export function ratioFigures(comparison, order) {
  return testsOf(comparison).map((test) => {
    const shown = metricsWithRatio(comparison).map((metric) => figure(comparison, test, metric, order)).filter(Boolean);
    return shown.length === 0 ? null : [h('h3', null, test[1]), h('div', { class: 'figures' }, shown)];
  });
}
