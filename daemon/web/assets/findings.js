// What a search found, in words.

import { h, untrusted } from './dom.js';
import { change, changeWithInterval, level, probability } from './format.js';
import { commitLink, seriesLink } from './links.js';
import { table } from './table.js';

const kindWords = {
  improvement: 'An improvement', culprit: 'Culprit', range: 'One of these commits', gradual: 'Many of these commits, each a little',
  layout: 'Not the commit: one build of it was slower, and another was not',
};

function comparisonText(comparison) {
  return comparison ? changeWithInterval(comparison) : '–';
}

const effectColumns = [
  { title: 'Series', value: (row) => row.series.name, cell: (row) => seriesLink(row.series) },
  { title: 'Search saw', number: true, cell: (row) => [`${level(row.before, row.series.unit)} → ${level(row.after, row.series.unit)}`, row.before > 0 ? ` (${change(row.after / row.before)})` : ''] },
  { title: 'Sure', number: true, cell: (row) => probability(row.probability) },
  { title: 'Beside its parent', number: true, cell: (row) => comparisonText(row.proof) },
  { title: 'With another layout', number: true, cell: (row) => [comparisonText(row.rebuilt), row.is_doubted ? ' (builds differ as much)' : ''], narrowHidden: true },
  { title: 'Without it on the newest', number: true, cell: (row) => comparisonText(row.revert_check), narrowHidden: true },
  { title: 'Explains', number: true, cell: (row) => (row.proof ? `${Math.round(100 * row.share)}%` : '–'), narrowHidden: true },
];

function suspectItem(commit) {
  return h('li', null, commitLink(commit), ' ', untrusted(commit.subject), ' ', h('span', { class: 'quiet' }, untrusted(commit.author.replace(/ <.*$/, ''))),
    commit.pull_request ? h('span', { class: 'quiet' }, ` #${commit.pull_request}`) : null);
}

export function findingSection(finding) {
  const suspects = finding.suspects.map(suspectItem);
  return h('section', { class: `panel ${finding.kind === 'improvement' ? 'calm' : 'alert'}` },
    h('h3', null, kindWords[finding.kind] ?? finding.kind),
    h('ul', { class: 'plain' }, suspects.slice(0, 5)),
    suspects.length > 5 ? h('details', null, h('summary', null, `${suspects.length - 5} more commits`), h('ul', { class: 'plain' }, suspects.slice(5))) : null,
    finding.no_revert_check ? h('p', { class: 'quiet' }, 'No revert check: ', untrusted(finding.no_revert_check)) : null,
    table(effectColumns, finding.effects, { caption: 'What it did' }));
}
