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

/** Links to incidents, separated by commas. `textOf`: the text of the link to an incident. */
export function incidentLinks(ids, textOf = (id) => `Incident ${id}`) {
  return ids.map((id, at) => [at > 0 ? ', ' : null, incidentLink(id, textOf(id))]);
}

export function bisectionLink(id, text = `Bisection ${id}`) {
  return h('a', { href: `/bisections/${id}` }, text);
}

export function nightlyLink(id, date) {
  return h('a', { href: `/nightlies/${id}`, class: 'together' }, date);
}

/** "Culprit: 36fb56833c5c, proved against its parent". For several commits, the service's reason has their number. */
export function findingText({ headline, reason, suspects }) {
  return suspects.length === 1 ? [`${headline}: `, commitLink(suspects[0]), `, ${reason}`] : `${headline}: ${reason}`;
}

/** The culprit of an incident with its pull request: "36fb56833c5c #123". Nothing without a culprit. */
export function culpritLink(culprit) {
  if (!culprit) return null;
  const { pull_request: number, url } = culprit;
  const address = url?.replace(/\/commit\/[0-9a-f]+$/, `/pull/${number}`);
  return [commitLink(culprit), number ? [' ', address ? h('a', { href: address, rel: 'noreferrer' }, `#${number}`) : `#${number}`] : null];
}

/** Where the report is: the number of its issue, or the name of its file. The tooltip has all of it. */
export function reportLink(report) {
  if (!report) return h('span', { class: 'quiet' }, 'not filed yet');
  const name = report.split('/').at(-1);
  return /^https?:/.test(report) ? h('a', { href: report, rel: 'noreferrer', title: report }, /^\d+$/.test(name) ? `#${name}` : 'report')
    : h('code', { class: 'untrusted', title: report }, name);
}

/** The short name of a commit, linked to its pull request or page when there is one. */
export function commitLink(commit) {
  const text = h('code', null, commit.sha.slice(0, 12));
  return commit.url ? h('a', { href: commit.url, rel: 'noreferrer', title: commit.subject.slice(0, 300) }, text) : text;
}
