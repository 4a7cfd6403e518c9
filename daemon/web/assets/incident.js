// The page of one incident: changed series, pairs of processes, bisections, operators and the host.

import { read, readAll } from './api.js';
import { incidentActions } from './actions.js';
import { h, untrusted } from './dom.js';
import { ago, changeText, growth, level, plural, sha, time } from './format.js';
import { culpritLink, nightlyLink, seriesLink } from './links.js';
import { operatorSections } from './operators.js';
import { pairFigure } from './pairs.js';
import { bisectionBody } from './bisectionbody.js';
import { stateText } from './states.js';
import { facts, table } from './table.js';
import { timelineSection } from './timeline.js';

const openAtFirst = 4;

const changeColumns = [
  { title: 'Series', value: (row) => row.name, cell: (row) => seriesLink(row) },
  { title: 'Change', number: true, value: growth, cell: (row) => h('span', { class: 'bad' }, changeText(row)), descending: true },
  { title: 'Baseline', number: true, cell: (row) => level(row.before, row.unit), narrowHidden: true },
  { title: 'Candidate', number: true, cell: (row) => level(row.after, row.unit), narrowHidden: true },
  { title: 'Error probability, at most', number: true, cell: (row) => row.error_bound.toPrecision(1), narrowHidden: true },
  { title: 'Pairs', number: true, value: (row) => row.pairs, cell: (row) => row.pairs, narrowHidden: true },
];

function pairsOf(incident, one, place, isOpen) {
  const { baseline, nightly } = incident;
  const details = h('details', null, h('summary', null, one.name, h('span', { class: 'quiet' }, ` on ${one.fleet}, ${one.headline}`)));
  const fill = async () => {
    if (details.childElementCount > 1) return;
    const query = new URLSearchParams({ fleet: one.fleet, benchmark: one.benchmark, metric: one.metric, nightly: nightly.id });
    try {
      const points = await readAll(`/api/v1/series?${query}`, place.signal);
      details.append(h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Pairs of ${one.name}` }, pairFigure(one, points, baseline.commit, nightly.commit)));
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      details.append(h('p', { class: 'quiet' }, problem.status === 404 ? 'The raw samples were deleted. The nightly summary is kept.' : problem.message));
    }
  };
  details.addEventListener('toggle', () => { if (details.open) fill(); });
  if (isOpen) details.open = true;
  return details;
}

const recoveryColumns = [
  { title: 'Series', value: (row) => row.name, cell: (row) => seriesLink(row) },
  { title: 'Nightly', value: (row) => row.nightly.date, cell: (row) => nightlyLink(row.nightly.id, row.nightly.date ?? `nightly ${row.nightly.id}`), descending: true },
  { title: 'Before', number: true, cell: (row) => level(row.before, row.unit) },
  { title: 'Now', number: true, cell: (row) => level(row.after, row.unit) },
  { title: 'Now compared with before', number: true, value: growth, cell: (row) => changeText(row), narrowHidden: true },
];

function recoveriesSection(recoveries, changes) {
  if (recoveries.length === 0) return null;
  return [h('h2', null, 'Back at the level before'),
    table(recoveryColumns, recoveries, { caption: `${recoveries.length} of ${plural(changes.length, 'series', 'series')}: the last good build and a later nightly took turns on one host` })];
}

function hostSection(fingerprint) {
  if (!fingerprint) return null;
  const rows = Object.entries(fingerprint).map(([name, value]) => [name, untrusted(typeof value === 'string' ? value : JSON.stringify(value))]);
  return [h('h2', null, 'Measured on'), h('details', null, h('summary', null, 'Fingerprint of the host'), facts(rows))];
}

function reportPlace(report) {
  if (!report) return 'not filed yet; the timeline has the reason';
  return /^https?:/.test(report) ? h('a', { href: report, rel: 'noreferrer' }, report) : h('code', { class: 'untrusted' }, report);
}

function noBisectionText({ state }) {
  if (state === 'failed') return 'No bisection was made: the nightly failed.';
  if (state !== 'bisected' && state !== 'done') return 'No bisection yet: it starts when the nightly has been compared.';
  return 'No bisection was made: no commit between the two nightlies can be built and measured.';
}

export async function show(place) {
  const incident = await read(`/api/v1/incidents/${place.id}`, place.signal);
  const { baseline, changes, nightly } = incident;
  place.title(`Incident ${incident.id}`);
  const newestFirst = [...incident.bisections].reverse();
  const bisections = await Promise.all(newestFirst.map(async (bisection) =>
    [h('h2', null, h('a', { href: `/bisections/${bisection.id}` }, `Bisection ${bisection.id}`)), await bisectionBody(bisection.id, place)]));
  place.show(
    h('p', { class: 'quiet' }, `Incident ${incident.id}`),
    h('h1', null, incident.headline),
    facts([
      ['State', stateText(incident.state)],
      ['Culprit', incident.culprit ? [culpritLink(incident.culprit), ' ', untrusted(incident.culprit.subject)] : 'not known'],
      ['Nightly', [nightlyLink(nightly.id, nightly.date), ', commit ', sha(nightly.commit), incident.nightly_pytorch ? [', PyTorch ', untrusted(incident.nightly_pytorch)] : '']],
      ['Baseline', [nightlyLink(baseline.id, baseline.date), ', commit ', sha(baseline.commit), incident.baseline_pytorch ? [', PyTorch ', untrusted(incident.baseline_pytorch)] : '']],
      ['Opened', [time(incident.opened_at), ` (${ago(incident.opened_at)})`]],
      ['Report', reportPlace(incident.report)],
      incident.correction ? ['Newer edition', untrusted(incident.correction)] : null,
    ]),
    incidentActions(incident, place.again),
    timelineSection(incident),
    recoveriesSection(incident.recoveries, changes),
    h('h2', null, 'Changed series'),
    table(changeColumns, changes, { caption: 'Both builds took turns on one host, run by run. Error probability: the chance that the interval misses the true ratio', empty: 'All changed series are muted.' }),
    h('h3', null, 'Pairs of processes'), changes.map((one, at) => pairsOf(incident, one, place, at < openAtFirst)),
    bisections.length ? bisections : h('p', { class: 'quiet' }, noBisectionText(nightly)),
    incident.operators.length ? [h('h2', null, 'Operators'), operatorSections(incident.operators)] : null,
    hostSection(incident.fingerprint));
}
