// The page of all series, and the page of one series over all its nightlies.

import { read, readAll } from './api.js';
import { dayOf, drawChart } from './chart.js';
import { h } from './dom.js';
import { change, growth, level, plural, shortSha, time, verdictClass } from './format.js';
import { incidentLink, nightlyLink, seriesAddress } from './links.js';
import { sparkline } from './sparkline.js';
import { facts, table } from './table.js';

const recentNights = 30;
let chart = null; // the chart of the current page

// ---- all series ----

const columns = [
  { title: 'Series', value: (row) => row.name, cell: (row) => h('a', { href: seriesAddress(row) }, row.name) },
  { title: 'Fleet', value: (row) => row.fleet, cell: (row) => row.fleet },
  { title: 'Newest level', number: true, cell: (row) => (row.newest ? level(row.newest.level, row.unit) : '–') },
  { title: `Last ${recentNights} nightlies`, cell: (row) => sparkline(row.levels), narrowHidden: true },
  { title: 'Last change', number: true, value: (row) => growth(row.change), descending: true,
    cell: (row) => (row.change ? h('span', { class: verdictClass(row.change.verdict) }, row.change.headline) : '–') },
  { title: 'Changed on', value: (row) => row.change?.date, descending: true, cell: (row) => (row.change ? nightlyLink(row.change.nightly, row.change.date) : '–') },
];

function choices(label, name, values, chosen, onChange) {
  return h('label', null, label, h('select', { name, change: (event) => onChange(event.target.value) },
    h('option', { value: '' }, 'all'), values.map((value) => h('option', { value, selected: value === chosen }, value))));
}

function matches(row, query) {
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${row.name} ${row.fleet}`.toLowerCase();
  return words.every((word) => text.includes(word)) &&
    (!query.get('on') || row.fleet === query.get('on')) && (!query.get('of') || row.metric === query.get('of'));
}

async function showAll(place) {
  const rows = await readAll(`/api/v1/series?recent=${recentNights}`, place.signal);
  const { query } = place;
  const results = h('div');
  const draw = () => {
    const found = rows.filter((row) => matches(row, query));
    results.replaceChildren(table(columns, found, {
      caption: `${found.length} of ${plural(rows.length, 'series', 'series')}`,
      empty: rows.length === 0 ? ['No series yet. The first nightly fills this page. ', h('code', null, 'torchwatch config check'), ' reports whether the service can find and measure one.'] : 'No series matches. Change the search or the filters.',
      sort: query.has('sort') ? Number(query.get('sort')) : 5, descending: query.get('order') !== 'ascending',
      onSort: (index, descending) => {
        query.set('sort', index);
        query.set('order', descending ? 'descending' : 'ascending');
        place.remember(query);
      },
    }));
  };
  const set = (name, value) => {
    if (value) query.set(name, value);
    else query.delete(name);
    place.remember(query);
    draw();
  };
  const values = (name) => [...new Set(rows.map((row) => row[name]))].sort();
  place.show(h('h1', null, 'Series'),
    h('div', { class: 'controls', role: 'search' },
      h('label', null, 'Search', h('input', { type: 'search', name: 'q', value: query.get('q') ?? '', placeholder: 'bert train', input: (event) => set('q', event.target.value) })),
      choices('Fleet', 'on', values('fleet'), query.get('on'), (value) => set('on', value)),
      choices('Metric', 'of', values('metric'), query.get('of'), (value) => set('of', value))),
    results);
  draw();
}

// ---- one series ----

function addressOf(series, more = '') {
  return `fleet=${encodeURIComponent(series.fleet)}&benchmark=${encodeURIComponent(series.benchmark)}&metric=${series.metric}${more}`;
}

function lineOf(history) {
  const { nights } = history;
  return { label: `${history.name} on ${history.fleet}`, metric: history.metric, unit: history.unit, dates: nights.date, level: nights.level, low: nights.low, high: nights.high };
}

/** The events of a series, newest first: {date, nightly, short, text, incident}. */
function eventsOf(history, changePoints, rulings) {
  const { nights } = history;
  const incidents = new Map(history.incidents.map((one) => [one.nightly, one.id]));
  const events = [];
  nights.verdict.forEach((verdict, at) => {
    if (verdict !== 'regression' && verdict !== 'improvement') return;
    const incident = incidents.get(nights.nightly[at]);
    events.push({ date: nights.date[at], nightly: nights.nightly[at], short: verdict === 'regression' ? 'R' : 'I', text: verdict, incident });
  });
  for (const point of changePoints) {
    const by = point.by === 'ratio' ? change(point.change) : level(point.change, history.unit);
    events.push({ date: point.nightly.date, nightly: point.nightly.id, short: 'C', text: `change point, ${by} (${point.effect}), between ${point.earliest.date} and ${point.latest.date}` });
  }
  for (const ruling of rulings) {
    const at = nights.nightly.findIndex((id) => incidents.get(id) === ruling.incident);
    if (at >= 0) events.push({ date: nights.date[at], nightly: nights.nightly[at], short: 'U', text: `${ruling.kind.replaceAll('_', ' ')} by ${ruling.who}: ${ruling.why}`, incident: ruling.incident });
  }
  const anchored = nights.nightly.indexOf(history.anchor);
  if (anchored >= 0) events.push({ date: nights.date[anchored], nightly: history.anchor, short: 'A', text: 'anchor: later nightlies are compared with it' });
  return events.sort((one, other) => (one.date < other.date ? 1 : -1));
}

function hostText(fingerprint) {
  if (!fingerprint) return '–';
  return Object.entries(fingerprint).filter(([, value]) => ['string', 'number'].includes(typeof value)).slice(0, 4).map(([name, value]) => `${name} ${value}`).join(', ');
}

function changeSincePrevious({ nights, unit }, at) {
  const [before, after] = [nights.level[at - 1], nights.level[at]];
  return before > 0 ? change(after / before) : `from ${level(before, unit)} to ${level(after, unit)}`;
}

/** Shows one nightly of the series, and its processes while their raw samples are kept. */
async function showNightly(panel, place, history, at) {
  const { nights } = history;
  const shown = facts([
    ['Level', `${level(nights.level[at], history.unit)}: median of ${plural(nights.processes[at], 'process', 'processes')} from ${level(nights.low[at], history.unit)} to ${level(nights.high[at], history.unit)}`],
    at > 0 ? ['Change since the previous nightly', changeSincePrevious(history, at)] : null,
    ['Commit', h('code', null, shortSha(nights.commit[at]))],
    ['Verdict', nights.verdict[at] ? h('span', { class: verdictClass(nights.verdict[at]) }, nights.verdict[at]) : 'not compared'],
    ['Host', hostText(history.hosts[nights.host[at]])],
  ]);
  const details = h('details', null, h('summary', null, 'Processes'));
  details.addEventListener('toggle', async () => {
    if (!details.open || details.childElementCount > 1) return;
    try {
      const points = await readAll(`/api/v1/series?${addressOf(history, `&nightly=${nights.nightly[at]}`)}`, place.signal);
      details.append(processTable(points, history.unit));
    } catch (problem) {
      details.append(h('p', { class: 'quiet' }, problem.status === 404 ? 'The raw samples were deleted. The nightly summary is kept.' : problem.message));
    }
  });
  panel.replaceChildren(h('h2', null, 'Nightly ', nightlyLink(nights.nightly[at], nights.date[at])), shown, details);
}

function processTable(points, unit) {
  return table([
    { title: 'Build', cell: (row) => h('code', null, shortSha(row.commit)) },
    { title: 'Level', number: true, value: (row) => row.value, cell: (row) => level(row.value, unit) },
    { title: 'Samples', number: true, cell: (row) => row.samples.length, narrowHidden: true },
    { title: 'Lowest sample', number: true, cell: (row) => (row.samples.length ? level(Math.min(...row.samples), unit) : '–') },
    { title: 'Highest sample', number: true, cell: (row) => (row.samples.length ? level(Math.max(...row.samples), unit) : '–') },
    { title: 'Measured', value: (row) => row.measured_at, cell: (row) => time(row.measured_at), narrowHidden: true },
  ], points, { caption: 'One row per process, of both builds', empty: 'No processes are stored for this nightly.' });
}

function eventTable(events) {
  return table([
    { title: 'Mark', cell: (row) => row.short },
    { title: 'Nightly', value: (row) => row.date, cell: (row) => nightlyLink(row.nightly, row.date), descending: true },
    { title: 'Event', cell: (row) => h('span', { class: 'untrusted', dir: 'auto' }, row.text) },
    { title: 'Incident', cell: (row) => (row.incident ? incidentLink(row.incident, String(row.incident)) : '–') },
  ], events, { caption: 'R: regression, I: improvement, C: change point, U: ruling by a user, A: anchor', empty: 'No event yet: no regression, improvement, change point or ruling.' });
}

function download(name, url) {
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

function savePicture(name) {
  chart.picture().toBlob((blob) => {
    const url = URL.createObjectURL(blob);
    download(name, url);
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  });
}

function otherOf(query) {
  const at = (query.get('with') ?? '').split('|');
  return at.length === 3 ? { fleet: at[0], benchmark: at[1], metric: at[2] } : null;
}

/** The choice of another series for the chart. The list of series is loaded when the control gets the focus. */
function otherControl(place, other) {
  const { query } = place;
  const name = (series) => `${series.name} on ${series.fleet}`;
  const list = h('datalist', { id: 'all-series' });
  let all = null;
  const load = () => {
    all ??= readAll('/api/v1/series', place.signal).then((found) => {
      list.replaceChildren(...found.map((one) => h('option', { value: name(one) })));
      return found;
    });
    return all;
  };
  const take = async (event) => {
    const { value } = event.target;
    const found = (await load()).find((one) => name(one) === value);
    if (value && !found) return;
    if (found) query.set('with', `${found.fleet}|${found.benchmark}|${found.metric}`);
    else query.delete('with');
    place.remember(query);
    place.again();
  };
  return h('label', null, 'Compare with',
    h('input', { list: 'all-series', value: other ? name(other) : '', placeholder: 'another series', focus: load, change: take }), list);
}

function windowOf(query) {
  return query.has('from') && query.has('to') ? [dayOf(query.get('from')).getTime(), dayOf(query.get('to')).getTime()] : null;
}

function isoDay(ms) {
  const date = new Date(ms);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}

/** Shows the events in `panel` and on the chart, once the service has computed the change points. */
async function showEvents(panel, place, history, asked) {
  const [points, rulings] = await Promise.all([read(`/api/v1/change_points?${asked}`, place.signal), readAll('/api/v1/rulings', place.signal)]);
  const events = eventsOf(history, points.change_points, rulings.filter((ruling) => ruling.incident));
  panel.replaceChildren(eventTable(events));
  chart.mark(events);
}

function chartControls(place, history, other, asked) {
  const file = `${history.name}-${history.fleet}`.replace(/[^\w.-]+/g, '_');
  const control = (text, act) => h('button', { type: 'button', click: act }, text);
  return h('div', { class: 'controls' },
    control('Zoom in', () => chart.zoom(0.5)), control('Zoom out', () => chart.zoom(2)),
    control('Earlier', () => chart.pan(-0.5)), control('Later', () => chart.pan(0.5)), control('Show all', () => chart.all()),
    otherControl(place, other),
    h('a', { href: `/api/v1/history?${asked}&format=csv`, download: `${file}.csv` }, 'Save as CSV'),
    control('Save as PNG', () => savePicture(`${file}.png`)));
}

/** Puts the shown range of dates into the address. */
function rememberWindow(place, range) {
  const { query } = place;
  if (range) {
    query.set('from', isoDay(range[0]));
    query.set('to', isoDay(range[1]));
  } else {
    query.delete('from');
    query.delete('to');
  }
  if (!place.signal.aborted) place.remember(query);
}

async function showOne(place) {
  const { query, signal } = place;
  const asked = addressOf({ fleet: query.get('fleet'), benchmark: query.get('benchmark') ?? '', metric: query.get('metric') ?? '' });
  const chosen = otherOf(query);
  const [history, other] = await Promise.all([
    read(`/api/v1/history?${asked}`, signal), chosen ? read(`/api/v1/history?${addressOf(chosen)}`, signal) : null,
  ]);
  const { date } = history.nights;
  const box = h('div', { class: 'chart', tabindex: '0', role: 'img', 'aria-describedby': 'chart-help',
    'aria-label': `Chart of ${history.name} on ${history.fleet} over ${plural(date.length, 'nightly', 'nightlies')}` });
  const night = h('section', { class: 'panel', 'aria-live': 'polite' });
  const events = h('div', null, h('p', { class: 'quiet' }, 'Computing change points …'));
  place.title(history.name);
  place.show(
    h('h1', null, history.name, h('span', { class: 'quiet' }, ` on ${history.fleet}`)),
    box,
    h('p', { id: 'chart-help', class: 'quiet' }, `The line is the median of each nightly's processes; the band is their range. ${history.better === 'higher' ? 'Higher' : 'Lower'} is better. Drag to zoom, Shift and drag to pan. Keys: left and right select a nightly, Page Up and Page Down pan, + and − zoom, 0 shows all.`),
    chartControls(place, history, other, asked),
    night,
    h('h2', null, 'Events'), events,
    h('p', null, h('a', { href: '/series' }, 'All series')));
  if (signal.aborted) return;
  chart?.destroy();
  chart = await drawChart(box, [history, other].filter(Boolean).map(lineOf), { window: windowOf(query) },
    (day) => {
      const at = date.indexOf(isoDay(day.getTime()));
      if (at >= 0) showNightly(night, place, history, at);
    },
    (range) => rememberWindow(place, range));
  showNightly(night, place, history, date.length - 1);
  await showEvents(events, place, history, asked);
}

export async function show(place) {
  if (place.query.has('benchmark')) await showOne(place);
  else await showAll(place);
}

let shown = null;
/** Redraws the chart only when its data changed, so that it does not move under the user. */
export async function refresh(place) {
  const { query, signal } = place;
  if (!query.has('benchmark')) return;
  const asked = addressOf({ fleet: query.get('fleet'), benchmark: query.get('benchmark'), metric: query.get('metric') });
  const key = `${query.get('with')}`;
  const history = await read(`/api/v1/history?${asked}`, signal);
  if (shown && shown.history === history && shown.key === key) return;
  shown = { history, key };
  await showOne(place);
}
