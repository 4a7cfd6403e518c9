// Where things are shown.

import { h } from './dom.js';

export function seriesAddress(series, more = {}) {
  const query = new URLSearchParams({ fleet: series.fleet, benchmark: series.benchmark, metric: series.metric, ...more });
  return `/series?${query}`;
}

export function seriesLink(series, withFleet = true) {
  return [h('a', { href: seriesAddress(series) }, series.name), withFleet ? h('span', { class: 'quiet' }, ` on ${series.fleet}`) : null];
}

export function incidentLink(id, text = `Incident ${id}`) {
  return h('a', { href: `/incidents/${id}` }, text);
}

export function searchLink(id, text = `Search ${id}`) {
  return h('a', { href: `/bisections/${id}` }, text);
}

export function nightlyLink(id, date) {
  return h('a', { href: `/nightlies/${id}` }, date);
}

const loneWords = { improvement: 'made it better', culprit: 'did it', layout: 'a build of it was slower, the commit is not' };
const severalWords = {
  improvement: 'one of these made it better', range: 'one of these did it', gradual: 'many of these did it, each a little',
};

/** Why nobody is sure of a lone suspect; nothing where it is proved, or not to blame, or one of several. */
export function doubtOf({ kind, culprit, suspects, effects }) {
  if (culprit || kind === 'layout' || suspects.length > 1) return null;
  return effects.some((effect) => effect.proof) ? 'not confirmed beside its parent' : 'not proved';
}

/** "36fb56833c5c did it", or how many commits are left. */
export function findingText(finding) {
  if (!finding) return null;
  const { kind, suspects } = finding;
  const doubt = doubtOf(finding);
  if (doubt) return [commitLink(suspects[0]), ` most likely${kind === 'improvement' ? ' made it better' : ''}, ${doubt}`];
  if (suspects.length === 1) return [commitLink(suspects[0]), ` ${loneWords[kind] ?? kind}`];
  return [`${suspects.length} commits: ${severalWords[kind] ?? kind}`];
}

/** Its pull request where it has one, else its short name. */
export function commitLink(commit) {
  const text = h('code', null, commit.sha.slice(0, 12));
  return commit.url ? h('a', { href: commit.url, rel: 'noreferrer', title: commit.subject.slice(0, 300) }, text) : text;
}

const outcomeWords = {
  culprit: 'culprit proved',
  range: 'range of commits',
  environment: 'what the nightlies were built with',
  not_reproduced: 'not reproduced',
  layout: 'layout of builds, no commit',
  undecided: 'undecided',
};

export function outcomeText(search) {
  if (!search) return 'no search';
  return search.outcome ? outcomeWords[search.outcome] ?? search.outcome : search.state;
}
