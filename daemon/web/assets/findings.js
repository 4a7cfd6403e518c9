// What comparisons and searches found, in words.

import { h, untrusted } from './dom.js';
import { change, changeWithInterval, growth, level, probability, verdictClass } from './format.js';
import { commitLink, doubtOf, seriesLink } from './links.js';
import { table } from './table.js';

/** Of series that were compared. */
export const comparisonColumns = [
  { title: 'Series', value: (row) => row.name, cell: (row) => seriesLink(row) },
  { title: 'Verdict', value: (row) => row.verdict, cell: (row) => h('span', { class: verdictClass(row.verdict) }, row.verdict, row.muted ? ' (muted)' : '') },
  { title: 'Change', number: true, value: growth, cell: (row) => changeWithInterval(row), descending: true },
  { title: 'Before', number: true, cell: (row) => level(row.before, row.unit), narrowHidden: true },
  { title: 'After', number: true, cell: (row) => level(row.after, row.unit), narrowHidden: true },
  { title: 'Pairs', number: true, value: (row) => row.pairs, cell: (row) => row.pairs, narrowHidden: true },
];

const loneWords = {
  improvement: 'An improvement', culprit: 'Culprit', layout: 'Not the commit: one build of it was slower, and another was not',
};
const severalWords = {
  improvement: 'An improvement by one of these commits', range: 'One of these commits', gradual: 'Many of these commits, each a little',
};

function headingOf(finding) {
  const doubt = doubtOf(finding);
  if (doubt) return `${finding.kind === 'improvement' ? 'An improvement, most likely by this commit' : 'Most likely this commit'}, ${doubt}`;
  const words = finding.suspects.length === 1 ? loneWords : severalWords;
  return words[finding.kind] ?? finding.kind;
}

function comparisonText(comparison, series) {
  return comparison ? changeWithInterval(comparison, series.unit) : '–';
}

const effectColumns = [
  { title: 'Series', value: (row) => row.series.name, cell: (row) => seriesLink(row.series) },
  { title: 'Search saw', number: true, cell: (row) => [`${level(row.before, row.series.unit)} → ${level(row.after, row.series.unit)}`, row.before > 0 ? ` (${change(row.after / row.before)})` : ''] },
  { title: 'Sure', number: true, cell: (row) => probability(row.probability) },
  { title: 'Beside its parent', number: true, cell: (row) => comparisonText(row.proof, row.series) },
  { title: 'With another layout', number: true, cell: (row) => [comparisonText(row.rebuilt, row.series), row.is_doubted ? ' (builds differ as much)' : ''], narrowHidden: true },
  { title: 'Without it on the newest', number: true, cell: (row) => comparisonText(row.revert_check, row.series), narrowHidden: true },
  { title: 'Explains', number: true, cell: (row) => (row.proof ? `${Math.round(100 * row.share)}%` : '–'), narrowHidden: true },
];

function suspectItem(commit) {
  return h('li', null, commitLink(commit), ' ', untrusted(commit.subject), ' ', h('span', { class: 'quiet' }, untrusted(commit.author.replace(/ <.*$/, ''))),
    commit.pull_request ? h('span', { class: 'quiet' }, ` #${commit.pull_request}`) : null);
}

export function findingSection(finding) {
  const suspects = finding.suspects.map(suspectItem);
  return h('section', { class: `panel ${finding.kind === 'improvement' ? 'calm' : 'alert'}` },
    h('h3', null, headingOf(finding)),
    h('ul', { class: 'plain' }, suspects.slice(0, 5)),
    suspects.length > 5 ? h('details', null, h('summary', null, `${suspects.length - 5} more commits`), h('ul', { class: 'plain' }, suspects.slice(5))) : null,
    finding.no_revert_check ? h('p', { class: 'quiet' }, 'No revert check: ', untrusted(finding.no_revert_check)) : null,
    table(effectColumns, finding.effects, { caption: 'What it did' }));
}
