// Shows the results of comparisons and bisections, in the words of the service.

import { h, untrusted } from './dom.js';
import { changeText, growth, level, plural, verdictClass } from './format.js';
import { commitLink, seriesLink } from './links.js';

/** The columns of a table of compared series. */
export const comparisonColumns = [
  { title: 'Series', value: (row) => row.name, cell: (row) => seriesLink(row) },
  { title: 'Verdict', value: (row) => row.verdict, cell: (row) => h('span', { class: verdictClass(row.verdict) }, row.verdict, row.muted ? ' (muted)' : '') },
  { title: 'Change', number: true, value: growth, cell: (row) => changeText(row), descending: true },
  { title: 'Baseline', number: true, cell: (row) => level(row.before, row.unit), narrowHidden: true },
  { title: 'Candidate', number: true, cell: (row) => level(row.after, row.unit), narrowHidden: true },
  { title: 'Pairs', number: true, value: (row) => row.pairs, cell: (row) => row.pairs, narrowHidden: true },
];

/** A list whose items after the first `most` are folded. `one` and `many`: the nouns of one item and of several. */
export function shortList(items, most, one, many = `${one}s`) {
  if (items.length === 0) return null;
  const list = (some) => h('ul', { class: 'plain' }, some.map((item) => h('li', null, item)));
  const more = items.length - most;
  return [list(items.slice(0, most)), more > 0 ? h('details', null, h('summary', null, plural(more, `more ${one}`, `more ${many}`)), list(items.slice(most))) : null];
}

function suspectText(commit) {
  return [commitLink(commit), ' ', untrusted(commit.subject), ' ', h('span', { class: 'quiet' }, untrusted(commit.author.replace(/ <.*$/, ''))),
    commit.pull_request && !commit.subject.includes(`#${commit.pull_request}`) ? h('span', { class: 'quiet' }, ` #${commit.pull_request}`) : null];
}

export function findingSection({ kind, headline, reason, suspects, effects, no_revert_check: noRevertCheck }) {
  return h('section', { class: `panel ${kind === 'improvement' ? 'calm' : 'alert'}` },
    h('h3', null, `${headline}: ${reason}`),
    shortList(suspects.map(suspectText), 5, 'commit'),
    noRevertCheck ? h('p', { class: 'quiet' }, 'No revert check: ', untrusted(noRevertCheck)) : null,
    shortList(effects.map((effect) => [seriesLink(effect.series), `: ${effect.reason}`]), 8, 'series', 'series'));
}
