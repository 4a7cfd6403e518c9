// The description of one bisection, for its own page and its incident's.

import { read } from './api.js';
import { bisectionActions } from './actions.js';
import { comparisonColumns, findingSection, shortList } from './findings.js';
import { h, untrusted } from './dom.js';
import { level, plural, probability, sentence, sha, time } from './format.js';
import { incidentLink, seriesLink } from './links.js';
import { bisectionLine } from './bisectionline.js';
import { facts, table } from './table.js';

function measuredText(step) {
  const metrics = Object.entries(step.readings);
  if (metrics.length === 0) return step.note ? untrusted(step.note) : '–';
  return metrics.map(([metric, levels]) => h('div', null, `${metric} `, levels.map((value) => level(value, step.units[metric])).join(', ')));
}

const stepColumns = [
  { title: 'Wave', number: true, cell: (row) => row.wave + 1 },
  { title: 'Commits', cell: (row) => row.commits.map((one) => h('div', null, sha(one), row.skipped === one ? h('span', { class: 'bad' }, ' skipped') : null)) },
  { title: 'Benchmark', cell: (row) => row.benchmark, narrowHidden: true },
  { title: 'Reason', cell: (row) => untrusted(row.reason) },
  { title: 'Measured', cell: (row) => (row.done ? measuredText(row) : h('b', null, 'in progress')) },
  { title: 'Likeliest suspects', cell: (row) => row.beliefs.map((belief) => h('div', null, `${probability(belief.probability)} `,
    belief.suspects[0] === belief.suspects[1] ? sha(belief.suspects[0]) : [sha(belief.suspects[0]), '…', sha(belief.suspects[1])])) },
];

/** "24 steps", or "2 of 4 steps measured". */
function stepsText(steps) {
  const done = steps.filter((step) => step.done).length;
  return done === steps.length ? plural(done, 'step') : `${done} of ${plural(steps.length, 'step')} measured`;
}

function nextText(bisection) {
  const next = bisection.steps.filter((step) => !step.done);
  if (next.length === 0) return null;
  return h('p', null, h('b', null, 'Next: '), next.map((step) => [step.commits.map((one) => [sha(one), ' ']), untrusted(step.reason)]));
}

function packagesSection(packages) {
  if (!packages) return null;
  return h('section', null,
    packages.headline ? [h('h3', null, packages.headline), h('p', { class: 'quiet' }, packages.reason)] : null,
    shortList(packages.differences.map(untrusted), 20, 'line'),
    packages.changes.length ? table(comparisonColumns, packages.changes, { caption: 'The nightly builds, measured again' }) : null);
}

/** Returns the elements that describe the bisection. `place`: the page, which is refreshed after each change. */
export async function bisectionBody(id, place) {
  const bisection = await read(`/api/v1/bisections/${id}`, place.signal);
  const builds = new Set(bisection.steps.filter((step) => step.stage === 'commits').flatMap((step) => step.commits));
  const first = bisection.request.series[0];
  const picture = bisection.steps.length === 0 ? h('p', { class: 'quiet' }, 'No step has been measured yet. This page updates by itself.') : h('div');
  if (bisection.steps.length > 0) {
    const draw = (name) => figure.replaceChildren(bisectionLine(bisection, name));
    const figure = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Chart of the bisection' });
    draw(first.name);
    const choice = bisection.request.series.length < 2 ? null : h('label', null, 'Probabilities for', h('select', { change: (event) => draw(event.target.value) },
      bisection.request.series.map((series) => h('option', { value: series.name }, series.name))));
    picture.append(h('p', { class: 'quiet' }, 'Each row is one wave of measurements, with the oldest commit on the left. A dot is a measured commit, a ring a skipped one. The bar is the range that most likely contains the change.'), figure, choice ?? '');
  }
  return [
    facts([
      ['State', bisection.headline],
      ['Incident', bisection.incident ? incidentLink(bisection.incident) : 'none: bisected on request'],
      ['Commits', [sha(bisection.request.start), ' to ', sha(bisection.request.end), bisection.commits.length ? `, ${plural(bisection.commits.length, 'suspect')}` : '']],
      ['Series', bisection.request.series.slice(0, 8).map((series) => h('div', null, seriesLink(series)))],
      ['Steps', `${stepsText(bisection.steps)}, ${plural(builds.size, 'build')}`],
      ['Requested', time(bisection.asked_at)],
    ]),
    bisectionActions(bisection, place.again),
    bisection.reason ? h('p', null, untrusted(sentence(bisection.reason))) : null,
    bisection.findings.map(findingSection),
    packagesSection(bisection.packages),
    nextText(bisection),
    picture,
    bisection.steps.length ? h('details', null, h('summary', null, 'All steps'), table(stepColumns, bisection.steps, { caption: 'Steps in the order in which they were planned' })) : null,
  ];
}
