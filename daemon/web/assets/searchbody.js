// One bisection, on its own page and on its incident's.

import { read } from './api.js';
import { searchActions } from './actions.js';
import { comparisonColumns, findingSection, shortList } from './findings.js';
import { h, untrusted } from './dom.js';
import { level, plural, probability, sha, time } from './format.js';
import { incidentLink, seriesLink } from './links.js';
import { searchLine } from './searchline.js';
import { facts, table } from './table.js';

const units = { latency: 'ms', cmem: 'bytes', gmem: 'bytes', leak: 'bytes/iteration' };

function readingText(step) {
  const metrics = Object.entries(step.readings);
  if (metrics.length === 0) return step.note ? untrusted(step.note) : '–';
  return metrics.map(([metric, levels]) => h('div', null, `${metric} `, levels.map((value) => level(value, units[metric])).join(', ')));
}

const stepColumns = [
  { title: 'Wave', number: true, cell: (row) => row.wave + 1 },
  { title: 'Commits', cell: (row) => row.commits.map((one) => h('div', null, sha(one), row.skipped === one ? h('span', { class: 'bad' }, ' skipped') : null)) },
  { title: 'Benchmark', cell: (row) => row.benchmark, narrowHidden: true },
  { title: 'Why these', cell: (row) => untrusted(row.reason) },
  { title: 'Read', cell: (row) => (row.done ? readingText(row) : h('b', null, 'now')) },
  { title: 'Then believed', cell: (row) => row.beliefs.map((belief) => h('div', null, `${probability(belief.probability)} `,
    belief.suspects[0] === belief.suspects[1] ? sha(belief.suspects[0]) : [sha(belief.suspects[0]), '…', sha(belief.suspects[1])])) },
];

function nextText(search) {
  const next = search.steps.filter((step) => !step.done);
  if (next.length === 0) return null;
  return h('p', null, h('b', null, 'Next: '), next.map((step) => [step.commits.map((one) => [sha(one), ' ']), untrusted(step.reason)]));
}

function packagesSection(packages) {
  if (!packages) return null;
  return h('section', null,
    packages.headline ? [h('h3', null, packages.headline), h('p', { class: 'quiet' }, packages.reason)] : null,
    shortList(packages.differences.map(untrusted), 20, 'lines'),
    packages.changes.length ? table(comparisonColumns, packages.changes, { caption: 'The nightly builds, measured again' }) : null);
}

/** `again`: draws it anew. `level`: of its headings. */
export async function searchBody(id, place) {
  const search = await read(`/api/v1/bisections/${id}`, place.signal);
  const builds = new Set(search.steps.filter((step) => step.stage === 'commits').flatMap((step) => step.commits));
  const first = search.request.series[0];
  const picture = search.steps.length === 0 ? h('p', { class: 'quiet' }, 'Nothing has been measured yet.') : h('div');
  if (search.steps.length > 0) {
    const draw = (name) => figure.replaceChildren(searchLine(search, name));
    const figure = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The bisection as a picture' });
    draw(first.name);
    const choice = search.request.series.length < 2 ? null : h('label', null, 'Belief about', h('select', { change: (event) => draw(event.target.value) },
      search.request.series.map((series) => h('option', { value: series.name }, series.name))));
    picture.append(figure, choice ?? '');
  }
  return [
    facts([
      ['State', search.headline],
      search.incident ? ['Of', incidentLink(search.incident)] : ['Of', 'a person'],
      ['Commits', [sha(search.request.start), ' to ', sha(search.request.end), search.commits.length ? `, ${plural(search.commits.length, 'suspect')}` : '']],
      ['Series', search.request.series.slice(0, 8).map((series) => h('div', null, seriesLink(series)))],
      ['Steps', `${plural(search.steps.length, 'step')}, ${plural(builds.size, 'build')}`],
      ['Asked', time(search.asked_at)],
    ]),
    searchActions(search, place.again),
    search.reason ? h('p', null, untrusted(search.reason)) : null,
    search.findings.map(findingSection),
    packagesSection(search.packages),
    nextText(search),
    picture,
    search.steps.length ? h('details', null, h('summary', null, 'All steps'), table(stepColumns, search.steps, { caption: 'In the order planned' })) : null,
  ];
}
