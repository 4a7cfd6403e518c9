// The page that compares two sides of the whole suite, as in the paper's figures 3 to 5. The address contains all choices,
// so it can be shared.

import { read } from './api.js';
import { h, untrusted } from './dom.js';
import { levels, plural } from './format.js';
import { gpuSection } from './gputime.js';
import { nightlyLink, seriesAddress } from './links.js';
import { ratioText } from './ratiobars.js';
import { byPlace, domainText, meansTable, metricText, metricsWithRatio, placeText, ratioFigures, ratioHeading, testText } from './ratiofigures.js';
import { asked, backendLinks, sideChoices, sides, withNightlies, words } from './sides.js';
import { table } from './table.js';

let redraw = async () => {}; // redraws the current page

function sideName(side) {
  if (!side) return 'none';
  const what = words.map((word) => side[word]).filter(Boolean).join(', ');
  return [nightlyLink(side.nightly.id, side.nightly.date), what ? h('span', { class: 'quiet' }, ` (${what})`) : null];
}

/** The first series of a row on the candidate's side, or null where the row stands for several. */
function seriesOf(row, after) {
  const place = { fleet: row.fleet ?? after.fleet, device: row.device ?? after.device, backend: row.backend ?? after.backend };
  if (!place.fleet || !place.device || !place.backend) return null;
  return { fleet: place.fleet, benchmark: `test_${row.test}[${row.model}-${place.device}-${place.backend}]`, metric: Object.keys(row.metrics)[0] ?? 'latency' };
}

function figures(row, metric, unit) {
  const one = row.metrics[metric];
  return one ? levels(one.before, one.after, unit) : '–';
}

function ratioColumns(one) {
  const { metric, unit } = one;
  return [
    { title: ratioHeading(one), number: true, descending: true, value: (row) => row.metrics[metric]?.ratio, cell: (row) => ratioText(row.metrics[metric]?.ratio) },
    { title: `${metricText(metric)}, baseline → candidate`, number: true, narrowHidden: true, cell: (row) => figures(row, metric, unit) },
  ];
}

function rowLink(row, comparison) {
  const series = seriesOf(row, comparison.after);
  return series ? h('a', { href: seriesAddress(series) }, row.model) : row.model;
}

function figuresTable(comparison) {
  return table([
    { title: 'Model', value: (row) => row.model, cell: (row) => rowLink(row, comparison) },
    { title: 'Test', value: (row) => testText(row.test), cell: (row) => testText(row.test) },
    { title: 'Domain', value: (row) => domainText(row.domain), cell: (row) => domainText(row.domain), narrowHidden: true },
    comparison.rows.some(placeText) ? { title: 'Measured on', value: placeText, cell: placeText } : null,
    ...metricsWithRatio(comparison).flatMap(ratioColumns),
  ].filter(Boolean), comparison.rows, { caption: plural(comparison.rows.length, 'test'), sort: 0 });
}

function onlyList(name, keys) {
  if (keys.length === 0) return null;
  return h('details', { open: keys.length <= 12 }, h('summary', null, `${plural(keys.length, 'test')} only ${name}`),
    h('p', null, keys.map((key) => [`${key.test} ${key.model}`, placeText(key)].filter(Boolean).join(' on ')).join(', ')));
}

function nothingYet(comparison, choices) {
  if (choices.nightlies.id.length === 0) {
    return ['No nightly yet', 'This page compares two judged nightlies. ', h('code', null, 'torchwatch config check'), ' reports whether the service can find and measure one.'];
  }
  if (!comparison.before || !comparison.after) {
    return ['One side is missing', 'This page needs two judged nightlies. With one, choose two fleets or two backends above.'];
  }
  return ['The two sides have no test in common', 'Choose another nightly, fleet, device or backend.'];
}

function emptyPanel(comparison, choices) {
  const [heading, ...text] = nothingYet(comparison, choices);
  return h('section', { class: 'panel notice' }, h('h2', null, heading), h('p', null, text));
}

function ratioSection(comparison, order) {
  return [h('h2', null, comparison.place ? `Ratios on ${comparison.place}` : 'Ratios'), meansTable(comparison), ratioFigures(comparison, order)];
}

/** What a ratio below 1 means, for the metrics of the comparison. */
function meaningText(comparison) {
  const isHigher = metricsWithRatio(comparison).filter((one) => one.better === 'higher').map((one) => one.metric);
  const lower = 'A ratio below 1 means that the candidate needs less time or memory.';
  return isHigher.length === 0 ? lower : `${lower} Higher values are better for ${isHigher.join(', ')}: there, a ratio above 1 is better. Bars of better ratios have the colour of improvements.`;
}

function results(comparison, choices, query) {
  const only = [onlyList('in the baseline', comparison.only_before), onlyList('in the candidate', comparison.only_after)];
  if (comparison.rows.length === 0) return [emptyPanel(comparison, choices), only];
  return [
    h('p', null, sideName(comparison.after), ' compared with ', sideName(comparison.before), `: ${plural(comparison.rows.length, 'test')} in common. ${meaningText(comparison)}`),
    h('p', { class: 'quiet' }, 'The ratios are computed from nightly summaries. The two sides were not measured side by side, so a ratio is not a verdict. The page of each nightly lists its verdicts.'),
    byPlace(comparison).map((part) => ratioSection(part, query.get('sort') ?? 'domain')),
    gpuSection(comparison),
    h('h2', null, 'All values'), figuresTable(comparison),
    only.some(Boolean) ? [h('h2', null, 'Tests on one side only'), only] : null,
    h('p', null, h('a', { href: `/compare?${withNightlies(query, comparison)}` }, 'Link to these two nightlies'), ' · ',
      h('a', { href: addressOf(withNightlies(query, comparison)), download: 'comparison.json' }, 'JSON')),
  ];
}

function addressOf(query) {
  const kept = new URLSearchParams(asked.filter((name) => query.get(name)).map((name) => [name, query.get(name)]));
  return `/api/v1/compare?${kept}`;
}

/** The errors that the service found in the choices. */
function problemPanel(problem) {
  return h('div', { class: 'panel alert', role: 'alert' }, h('h2', null, 'These sides cannot be compared'),
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

/** True when the controls show the compared nightlies. The default is the two newest, so a new nightly changes it. */
function isCurrent(controls, comparison) {
  return sides.every((side) => !comparison[side] || controls.querySelector(`select[name=${side}]`)?.value === String(comparison[side].nightly.id));
}

export async function show(place) {
  const { query, signal } = place;
  const controls = h('div', { class: 'sides' });
  const shown = h('div');
  let known = null;
  const change = (name, value) => {
    // A choice for one side keeps the other side as it is shown.
    if (asked.includes(name)) withNightlies(query, known.comparison).forEach((id, side) => query.set(side, id));
    if (value) query.set(name, value);
    else query.delete(name);
    place.remember(query);
    place.again();
  };
  redraw = async () => {
    known = await readSides(query, signal);
    place.change(draw);
  };
  const draw = () => {
    const { choices, comparison, problem } = known;
    if (!isCurrent(controls, comparison) || controls.childElementCount === 0) controls.replaceChildren(...sideChoices(known, query, change, place.go));
    shown.replaceChildren(...[backendLinks(known), problem ? problemPanel(problem) : results(comparison, choices, query)].flat(Infinity).filter(Boolean));
  };
  await redraw();
  place.show(h('h1', null, 'Compare'), controls, shown);
}

/** Reads the comparison again. The choices stay. */
export async function refresh() {
  await redraw();
}
