// The page Trust: the stated and the observed rates of false verdicts, noise, hosts and the cost of verdicts.

import { read, readAll } from './api.js';
import { h } from './dom.js';
import { number, plural } from './format.js';
import { hostSection } from './hosts.js';
import { incidentTimesSection } from './incidenttimes.js';
import { noiseSection } from './noise.js';
import { intervalText, selfComparisonSection } from './selfcomparisons.js';
import { stackedBars } from './stackedbars.js';
import { table } from './table.js';
import { costSection } from './verdictcosts.js';

function percent(share) {
  return `${number(Number((100 * share).toPrecision(2)))}%`;
}

/** Compares the interval of the observed rate with the stated rate. Returns the panel's class and a sentence. */
function agreement(share, stated) {
  if (share.of === 0) return ['notice', 'No data yet.'];
  if (share.low > stated) return ['alert', 'Above the stated rate.'];
  if (share.high > stated) return ['calm', 'Consistent with the stated rate so far.'];
  return ['calm', 'Below the stated rate.'];
}

function card(heading, share, stated, statedText, how, empty) {
  const [kind, text] = agreement(share, stated);
  return h('section', { class: `panel ${kind}` }, h('h2', null, heading),
    h('p', null, h('b', { class: kind === 'alert' ? 'bad' : null }, share.of === 0 ? '–' : percent(share.share)), ` observed: ${share.false_alarms.toLocaleString()} of ${plural(share.of, ...how)}`),
    h('p', null, h('b', null, percent(stated)), ` stated${statedText}`),
    h('p', { class: 'quiet' }, share.of === 0 ? empty : `${text} 95% interval of the true rate: ${percent(share.low)} to ${percent(share.high)}.`));
}

function promises(precision) {
  const { stated } = precision;
  return h('div', { class: 'cards' },
    card('False verdicts', precision.builds_against_themselves, 2 * stated.error, `: at most ${percent(stated.error)} of comparisons in each direction`, ['self-comparison'],
      'Each night, some benchmarks of each fleet are compared with themselves. decide.aa_benchmarks sets how many.'),
    card('False incidents', precision.incidents, stated.false_discovery, ': at most this share of the changes that a nightly reports', ['incident'],
      'No incident yet. The page of an incident has a button to mark it as a false alarm.'));
}

const rulingKinds = [['false_alarms', 'false alarms', 'bar-bad'], ['accepted', 'accepted', 'bar-good'], ['unruled', 'no ruling', 'bar-even']];

function rulingFigure(months) {
  const rows = months.map((row) => ({ ...row, label: row.month, unruled: row.incidents - row.accepted - row.false_alarms }));
  return h('figure', { class: 'narrow-figure' }, h('figcaption', null, 'Incidents per month, by ruling'), stackedBars(rows, rulingKinds, 'Incidents per month, by ruling; the table below lists the values'));
}

function rulingSection(months) {
  const heading = h('h2', null, 'Rulings on incidents');
  if (months.length === 0) return [heading, h('p', { class: 'quiet' }, 'No incident yet.')];
  const unruled = (row) => row.incidents - row.accepted - row.false_alarms;
  const isNoneRuled = months.every((row) => unruled(row) === row.incidents);
  return [heading,
    rulingFigure(months),
    isNoneRuled ? h('p', { class: 'quiet' }, 'No ruling yet. Use the buttons on the page of an incident, or label its report false-alarm.') : null,
    table([
      { title: 'Month', value: (row) => row.month, cell: (row) => h('span', { class: 'together' }, row.month), descending: true },
      { title: 'Incidents', number: true, value: (row) => row.incidents, cell: (row) => row.incidents, descending: true },
      { title: 'Accepted', number: true, value: (row) => row.accepted, cell: (row) => row.accepted, descending: true, narrowHidden: true },
      { title: 'No ruling', number: true, value: unruled, cell: unruled, descending: true, narrowHidden: true },
      { title: 'False alarms', number: true, value: (row) => row.false_alarms, cell: (row) => h('span', { class: row.false_alarms > 0 ? 'bad' : null }, row.false_alarms), descending: true },
      { title: 'Share [95% interval]', number: true, value: (row) => row.share, cell: intervalText, descending: true },
    ], [...months].reverse(), { caption: 'Incidents by the month of the nightly, newest first', most: 24 })];
}

export async function show(place) {
  const { query, signal } = place;
  const [precision, trust] = await Promise.all([read('/api/v1/precision', signal), read('/api/v1/trust', signal)]);
  const noise = h('div', null, h('p', { class: 'quiet' }, 'Computing the noise of each series …'));
  place.show(h('h1', null, 'Trust'),
    h('p', null, 'How often verdicts are wrong: the stated and the observed rate.'),
    promises(precision),
    selfComparisonSection(trust.self_comparisons, trust.threshold),
    rulingSection(trust.rulings),
    incidentTimesSection(trust.incidents),
    costSection(trust.verdicts),
    hostSection(trust.hosts),
    noise);
  const series = await readAll('/api/v1/noise', signal);
  noise.replaceChildren(...[noiseSection(series, trust.threshold, query, place.remember)].flat(Infinity).filter(Boolean));
}
