// Can the verdicts be trusted? What is stated, and what was seen.

import { read, readAll } from './api.js';
import { h } from './dom.js';
import { number, plural } from './format.js';
import { hostSection } from './hosts.js';
import { noiseSection } from './noise.js';
import { intervalText, selfComparisonSection } from './selfcomparisons.js';
import { stackedBars } from './stackedbars.js';
import { table } from './table.js';
import { costSection } from './verdictcosts.js';

function percent(share) {
  return `${number(Number((100 * share).toPrecision(2)))}%`;
}

/** Whether what was seen may be what is stated: the interval of the one holds the other, or lies below. */
function agreement(share, stated) {
  if (share.of === 0) return ['notice', 'Nothing is seen yet.'];
  if (share.low > stated) return ['alert', 'More than is stated.'];
  if (share.high > stated) return ['calm', 'Not more than is stated, as far as can be told by now.'];
  return ['calm', 'Less than is stated.'];
}

function card(heading, share, stated, statedText, how, empty) {
  const [kind, text] = agreement(share, stated);
  return h('section', { class: `panel ${kind}` }, h('h2', null, heading),
    h('p', null, h('b', { class: kind === 'alert' ? 'bad' : null }, share.of === 0 ? '–' : percent(share.share)), ` seen: ${share.false_alarms.toLocaleString()} of ${plural(share.of, ...how)}`),
    h('p', null, h('b', null, percent(stated)), ` stated${statedText}`),
    h('p', { class: 'quiet' }, share.of === 0 ? empty : `${text} The true share lies between ${percent(share.low)} and ${percent(share.high)}, by 95%.`));
}

function promises(precision) {
  const { stated } = precision;
  return h('div', { class: 'cards' },
    card('False verdicts', precision.builds_against_themselves, 2 * stated.error, `: ${percent(stated.error)} of comparisons each way, however often one looks`, ['comparison of a build with itself', 'comparisons of builds with themselves'],
      'Some benchmarks of each fleet are compared with themselves every night, so this fills by itself (decide.aa_benchmarks).'),
    card('False incidents', precision.incidents, stated.false_discovery, ' at most, of what a night tells', ['incident'],
      'There was no incident yet. On each, people can say that it was a false alarm.'));
}

const rulingKinds = [['false_alarms', 'false alarms', 'bar-bad'], ['accepted', 'accepted', 'bar-good'], ['silent', 'nobody ruled', 'bar-even']];

function rulingFigure(months) {
  const rows = months.map((row) => ({ ...row, label: row.month, silent: row.incidents - row.accepted - row.false_alarms }));
  return h('figure', { class: 'narrow-figure' }, h('figcaption', null, 'Incidents a month'), stackedBars(rows, rulingKinds, 'Incidents a month by what people said of them; the table below has the figures'));
}

function rulingSection(months) {
  const heading = h('h2', null, 'What people said of incidents');
  if (months.length === 0) return [heading, h('p', { class: 'quiet' }, 'There was no incident yet.')];
  const silent = (row) => row.incidents - row.accepted - row.false_alarms;
  const nobody = months.every((row) => silent(row) === row.incidents);
  return [heading,
    rulingFigure(months),
    nobody ? h('p', { class: 'quiet' }, 'Nobody has ruled on one yet: an incident\'s page has the buttons, and a report\'s label false-alarm counts, too.') : null,
    table([
      { title: 'Month', value: (row) => row.month, cell: (row) => h('span', { class: 'together' }, row.month), descending: true },
      { title: 'Incidents', number: true, value: (row) => row.incidents, cell: (row) => row.incidents, descending: true },
      { title: 'Accepted', number: true, value: (row) => row.accepted, cell: (row) => row.accepted, descending: true, narrowHidden: true },
      { title: 'Nobody ruled', number: true, value: silent, cell: silent, descending: true, narrowHidden: true },
      { title: 'False alarms', number: true, value: (row) => row.false_alarms, cell: (row) => h('span', { class: row.false_alarms > 0 ? 'bad' : null }, row.false_alarms), descending: true },
      { title: 'Share [95% interval]', number: true, value: (row) => row.share, cell: intervalText, descending: true },
    ], [...months].reverse(), { caption: 'Incidents by the month of the nightly, newest first', most: 24 })];
}

export async function show(place) {
  const { query, signal } = place;
  const [precision, trust] = await Promise.all([read('/api/v1/precision', signal), read('/api/v1/trust', signal)]);
  const noise = h('div', null, h('p', { class: 'quiet' }, 'Looking at the noise of each series …'));
  place.show(h('h1', null, 'Trust'),
    h('p', null, 'How often verdicts are wrong: what is stated, and what was seen.'),
    promises(precision),
    selfComparisonSection(trust.self_comparisons, trust.threshold),
    rulingSection(trust.rulings),
    costSection(trust.verdicts),
    hostSection(trust.hosts),
    noise);
  const series = await readAll('/api/v1/noise', signal);
  noise.replaceChildren(...[noiseSection(series, trust.threshold, query, place.remember)].flat(Infinity).filter(Boolean));
}
