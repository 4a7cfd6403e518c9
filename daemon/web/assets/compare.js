// Two sides of the whole suite beside each other, as in the paper's figures 3 to 5: what is chosen stands in the
// address, so that it can be sent to somebody.

import { read } from './api.js';
import { h, untrusted } from './dom.js';
import { level, plural } from './format.js';
import { gpuSection } from './gputime.js';
import { nightlyLink, seriesAddress } from './links.js';
import { ratioText } from './ratiobars.js';
import { byPlace, domainText, meansTable, metrics, placeText, ratioFigures } from './ratiofigures.js';
import { asked, sideChoices, sides, withNightlies, words } from './sides.js';
import { table } from './table.js';

let redraw = async () => {}; // of the page that is shown

function sideName(side) {
  if (!side) return 'nothing';
  const what = words.map((word) => side[word]).filter(Boolean).join(', ');
  return [nightlyLink(side.nightly.id, side.nightly.date), what ? h('span', { class: 'quiet' }, ` (${what})`) : null];
}

/** The time of a row on the side after, where it can be named. */
function seriesOf(row, after) {
  const place = { fleet: row.fleet ?? after.fleet, device: row.device ?? after.device, backend: row.backend ?? after.backend };
  if (!place.fleet || !place.device || !place.backend) return null;
  return { fleet: place.fleet, benchmark: `test_${row.test}[${row.model}-${place.device}-${place.backend}]`, metric: 'latency' };
}

function figures(row, metric, unit) {
  const one = row.metrics[metric];
  return one ? `${level(one.before, unit)} → ${level(one.after, unit)}` : '–';
}

function ratioColumn(metric, name, comparison) {
  const { unit } = comparison.metrics.find((one) => one.metric === metric);
  return [
    { title: name, number: true, descending: true, value: (row) => row.metrics[metric]?.ratio, cell: (row) => ratioText(row.metrics[metric]?.ratio) },
    { title: `${name}, before → after`, number: true, narrowHidden: true, cell: (row) => figures(row, metric, unit) },
  ];
}

function rowLink(row, comparison) {
  const series = seriesOf(row, comparison.after);
  return series ? h('a', { href: seriesAddress(series) }, row.model) : row.model;
}

function figuresTable(comparison) {
  const has = (metric) => comparison.rows.some((row) => row.metrics[metric]);
  return table([
    { title: 'Model', value: (row) => row.model, cell: (row) => rowLink(row, comparison) },
    { title: 'Test', value: (row) => row.test, cell: (row) => row.test },
    { title: 'Domain', value: (row) => domainText(row.domain), cell: (row) => domainText(row.domain), narrowHidden: true },
    comparison.rows.some(placeText) ? { title: 'On', value: placeText, cell: placeText } : null,
    ...Object.entries(metrics).filter(([metric]) => has(metric)).flatMap(([metric, [name]]) => ratioColumn(metric, name, comparison)),
  ].filter(Boolean), comparison.rows, { caption: plural(comparison.rows.length, 'test'), sort: 0 });
}

function onlyList(name, keys) {
  if (keys.length === 0) return null;
  return h('details', { open: keys.length <= 12 }, h('summary', null, `${plural(keys.length, 'test')} only ${name}`),
    h('p', null, keys.map((key) => [`${key.test} ${key.model}`, placeText(key)].filter(Boolean).join(' on ')).join(', ')));
}

function nothingYet(comparison, choices) {
  if (choices.nightlies.id.length === 0) {
    return ['Nothing has been measured yet.', 'The first two nightlies fill this page. ', h('code', null, 'torchwatch config check'), ' says whether the service can find and measure them.'];
  }
  if (!comparison.before || !comparison.after) {
    return ['One side is missing.', 'Two nightlies that were judged are needed, or choose one above, on two fleets or two backends.'];
  }
  return ['The two sides have no test in common.', 'Choose another nightly, or another fleet, device or backend.'];
}

function emptyPanel(comparison, choices) {
  const [heading, ...text] = nothingYet(comparison, choices);
  return h('section', { class: 'panel notice' }, h('h2', null, heading), h('p', null, text));
}

function ratioSection(comparison, order) {
  return [h('h2', null, comparison.place ? `Ratios on ${comparison.place}` : 'Ratios'), meansTable(comparison), ratioFigures(comparison, order)];
}

function results(comparison, choices, query) {
  const only = [onlyList('before', comparison.only_before), onlyList('after', comparison.only_after)];
  if (comparison.rows.length === 0) return [emptyPanel(comparison, choices), only];
  return [
    h('p', null, sideName(comparison.after), ' by ', sideName(comparison.before), `: ${plural(comparison.rows.length, 'test')} in common. Less than 1 is less time or memory.`),
    h('p', { class: 'quiet' }, 'Levels of whole nights, which were not measured beside each other: a look, and no verdict. Verdicts are with the nightlies.'),
    byPlace(comparison).map((part) => ratioSection(part, query.get('sort') ?? 'domain')),
    gpuSection(comparison),
    h('h2', null, 'In figures'), figuresTable(comparison),
    only.some(Boolean) ? [h('h2', null, 'What only one side has'), only] : null,
    h('p', null, h('a', { href: `/compare?${withNightlies(query, comparison)}` }, 'Link to these two nightlies'), ' · ',
      h('a', { href: addressOf(withNightlies(query, comparison)), download: 'comparison.json' }, 'JSON')),
  ];
}

function addressOf(query) {
  const kept = new URLSearchParams(asked.filter((name) => query.get(name)).map((name) => [name, query.get(name)]));
  return `/api/v1/compare?${kept}`;
}

/** What is wrong with what was chosen, as the service says it. */
function problemPanel(problem) {
  return h('div', { class: 'panel alert', role: 'alert' }, h('h2', null, 'This cannot be compared'),
    h('ul', null, (problem.errors ?? []).map((error) => h('li', null, untrusted(`${error.field}: ${error.detail}`)))));
}

async function readSides(query, signal) {
  const choices = await read('/api/v1/sides', signal);
  try {
    return { choices, comparison: await read(addressOf(query), signal) };
  } catch (problem) {
    if (problem.status !== 400) throw problem;
    return { choices, comparison: { before: null, after: null }, problem };
  }
}

/** Whether the controls say what is shown: without an address that is the two newest, and there may be newer ones. */
function isSaid(controls, comparison) {
  return sides.every((side) => !comparison[side] || controls.querySelector(`select[name=${side}]`)?.value === String(comparison[side].nightly.id));
}

export async function show(place) {
  const { query, signal } = place;
  const controls = h('div', { class: 'sides' });
  const shown = h('div');
  let known = null;
  const change = (name, value) => {
    // Who chooses one side means the other as it is shown.
    if (asked.includes(name)) withNightlies(query, known.comparison).forEach((id, side) => query.set(side, id));
    if (value) query.set(name, value);
    else query.delete(name);
    place.remember(query);
    place.again();
  };
  redraw = async () => {
    known = await readSides(query, signal);
    const { choices, comparison, problem } = known;
    if (!isSaid(controls, comparison) || controls.childElementCount === 0) controls.replaceChildren(...sideChoices(known, query, change, place.go));
    shown.replaceChildren(...[problem ? problemPanel(problem) : results(comparison, choices, query)].flat(Infinity).filter(Boolean));
  };
  await redraw();
  place.show(h('h1', null, 'Compare'), controls, shown);
}

/** What is chosen stays as it is. */
export async function refresh() {
  await redraw();
}
