// Links and addresses of pages.

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

export function bisectionLink(id, text = `Bisection ${id}`) {
  return h('a', { href: `/bisections/${id}` }, text);
}

export function nightlyLink(id, date) {
  return h('a', { href: `/nightlies/${id}` }, date);
}

/** "Culprit: 36fb56833c5c, proved against its parent". For several commits, the service's reason has their number. */
export function findingText({ headline, reason, suspects }) {
  return suspects.length === 1 ? [`${headline}: `, commitLink(suspects[0]), `, ${reason}`] : `${headline}: ${reason}`;
}

/** The short name of a commit, linked to its pull request or page when there is one. */
export function commitLink(commit) {
  const text = h('code', null, commit.sha.slice(0, 12));
  return commit.url ? h('a', { href: commit.url, rel: 'noreferrer', title: commit.subject.slice(0, 300) }, text) : text;
}
