// The number of pairs of processes that comparisons needed, by verdict.

import { h } from './dom.js';
import { plural } from './format.js';
import { binsOf, histogram } from './histogram.js';
import { table } from './table.js';

const edges = [2, 4, 8, 13, 20, 30, 45, 60];
const kinds = ['regression', 'improvement', 'unchanged', 'inconclusive'];

/** The median number of pairs. */
function middle(costs, count) {
  let seen = 0;
  return costs.find(({ verdicts }) => { seen += verdicts; return 2 * seen >= count; }).pairs;
}

function summaryOf(verdict, items) {
  const costs = items.filter((item) => item.verdict === verdict).sort((one, other) => one.pairs - other.pairs);
  const count = costs.reduce((sum, item) => sum + item.verdicts, 0);
  const pairs = costs.reduce((sum, item) => sum + item.verdicts * item.pairs, 0);
  return { verdict, costs, count, pairs, median: count > 0 ? middle(costs, count) : null, most: costs.at(-1)?.pairs };
}

function figure(summary) {
  const bins = binsOf(summary.costs.map((cost) => [cost.pairs, cost.verdicts]), edges, String);
  return h('figure', null, h('figcaption', null, `Verdict ${summary.verdict}: comparisons by number of pairs`), histogram(bins, `${summary.verdict}: comparisons by number of pairs`));
}

export function costSection({ nights, items }) {
  const heading = h('h2', null, 'Cost of verdicts');
  if (items.length === 0) return [heading, h('p', { class: 'quiet' }, 'No comparison yet. The second nightly is the first with a baseline.')];
  const summaries = kinds.map((kind) => summaryOf(kind, items)).filter((one) => one.count > 0);
  return [heading,
    h('p', { class: 'quiet' }, `Pairs of processes until a comparison had a verdict, over the last ${plural(nights, 'nightly', 'nightlies')}.`),
    h('div', { class: 'figures' }, summaries.map(figure)),
    table([
      { title: 'Verdict', value: (row) => row.verdict, cell: (row) => row.verdict },
      { title: 'Comparisons', number: true, value: (row) => row.count, cell: (row) => row.count.toLocaleString(), descending: true },
      { title: 'Pairs, median', number: true, value: (row) => row.median, cell: (row) => row.median, descending: true },
      { title: 'Pairs, maximum', number: true, value: (row) => row.most, cell: (row) => row.most, descending: true },
      { title: 'Pairs, total', number: true, value: (row) => row.pairs, cell: (row) => row.pairs.toLocaleString(), descending: true, narrowHidden: true },
    ], summaries, { caption: 'Pairs of processes by verdict' })];
}
