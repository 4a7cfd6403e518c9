// Every page: it shows content, violates no policy, loads nothing from other sites, and is accessible.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { axeSource, generate, generateEmpty, openBrowser, openPage, serve, sweepNextNightly, until, visit } from './world.js';

const pictures = process.env.TORCHWATCH_PICTURES;
const looks = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, hasTouch: true },
};

let service;
let empty;
let browser;

const read = async (from, address) => (await fetch(from.url + address)).json();

/** The address of each page, with an incident whose bisection has ended. */
async function addressesOf(from) {
  const { items } = await read(from, '/api/v1/incidents?limit=500');
  const incident = items.find((one) => one.changes.length > 0 && one.id < items[0].id - 2) ?? items[0];
  const { fleet, benchmark, metric } = incident.changes[0];
  const bisection = (await read(from, `/api/v1/incidents/${incident.id}`)).bisections[0];
  return {
    tonight: '/', nightlies: '/nightlies', nightly: `/nightlies/${incident.nightly.id}`, 'all-series': '/series',
    series: `/series?${new URLSearchParams({ fleet, benchmark, metric })}`, incidents: '/incidents', incident: `/incidents/${incident.id}`,
    bisections: '/bisections', bisection: `/bisections/${bisection.id}`, compare: '/compare', trust: '/trust', alarms: '/alarms',
  };
}

const emptyPages = ['/', '/nightlies', '/series', '/incidents', '/bisections', '/compare', '/trust', '/alarms'];

/** The serious and critical findings of axe-core. */
async function violationsOf(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
}

/** The tables and charts that are wider than their place, so that a part is outside the screen. */
async function cutOff(page) {
  return page.locator('.scroll').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute('aria-label')));
}

before(async () => {
  if (pictures) mkdirSync(pictures, { recursive: true });
  service = await serve(generate(['--nights', '120', '--series', '60']));
  empty = await serve(generateEmpty());
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await service?.remove();
  await empty?.remove();
});

for (const [look, options] of Object.entries(looks)) {
  test(`every page in ${look}`, async (t) => {
    const addresses = await addressesOf(service);
    const page = await openPage(browser, service, options);
    for (const [name, address] of Object.entries(addresses)) {
      await t.test(name, async () => {
        await visit(page, address);
        assert.equal(await page.locator('main .panel.alert[role=alert]').count(), 0, await page.locator('main').innerText());
        if (name === 'series') await page.locator('.dygraph-axis-label').first().waitFor();
        if (pictures) await page.screenshot({ path: path.join(pictures, `${name}-${look}.png`), fullPage: true });
        assert.deepEqual(await violationsOf(page), []);
        assert.deepEqual(page.faults.splice(0), []);
        const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
        assert.ok(width[0] <= width[1], `the page is ${width[0]} px wide on a screen of ${width[1]} px`);
        assert.deepEqual(await cutOff(page), []);
      });
    }
    await page.context().close();
  });
}

test('the labels of a chart have the colour of text in dark mode', async () => {
  const page = await openPage(browser, service, looks.dark);
  await visit(page, (await addressesOf(service)).series);
  await page.locator('.dygraph-annotation').first().waitFor(); // the chart is drawn again with its marks
  // In one step: a redraw replaces the labels, and an element that is no longer in the page has no colour.
  const [label, text] = await page.evaluate(() => ['.dygraph-axis-label', 'body'].map((one) => getComputedStyle(document.querySelector(one)).color));
  assert.equal(label, text);
  await page.context().close();
});

/** Counts the controls that the mouse can use, and those among them that Tab reaches. */
async function reachOfTab(page) {
  const controls = ['a[href]', 'button:enabled', 'input:enabled', 'select:enabled', 'summary', '[tabindex="0"]'];
  const usable = await page.locator(controls.map((one) => `${one}:visible`).join(', ')).count();
  const reached = new Set();
  for (let presses = 0; presses < usable * 2 + 20 && reached.size < usable; presses += 1) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate((all) => [...document.querySelectorAll(all)].indexOf(document.activeElement), controls.join(', '));
    if (place >= 0) reached.add(place);
  }
  return { usable, reached: reached.size };
}

test('the keyboard reaches every control of every page', async (t) => {
  const addresses = await addressesOf(service);
  for (const [name, address] of Object.entries(addresses)) {
    await t.test(name, async () => {
      const page = await openPage(browser, service);
      await visit(page, address);
      if (name === 'series') await page.locator('.dygraph-axis-label').first().waitFor();
      const { usable, reached } = await reachOfTab(page);
      assert.ok(usable > 5);
      assert.equal(reached, usable);
      await page.context().close();
    });
  }
});

test('every page of an empty service shows text and no error', async (t) => {
  const page = await openPage(browser, empty);
  for (const address of emptyPages) {
    await t.test(address, async () => {
      await visit(page, address);
      assert.equal(await page.locator('main [role=alert]').count(), 0, await page.locator('main').innerText());
      assert.ok((await page.locator('main').innerText()).length > 60);
      assert.deepEqual(await violationsOf(page), []);
      assert.deepEqual(page.faults.splice(0), []);
    });
  }
});

test('a missing record is reported, with a button to try again', async () => {
  const page = await openPage(browser, service);
  for (const address of ['/incidents/99999', '/nightlies/99999', '/bisections/99999', '/series?fleet=x&benchmark=y&metric=z']) {
    await page.goto(address);
    await page.locator('main [role=alert]').waitFor();
    assert.match(await page.locator('main').innerText(), /Try again/);
  }
  assert.deepEqual(page.faults, []);
});

test('a response that breaks off is reported as a lost connection', async (t) => {
  const halves = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
    response.write('{"total": 1, ');
    setTimeout(() => response.destroy(), 100);
  });
  t.after(() => halves.close());
  await new Promise((listening) => { halves.listen(0, '127.0.0.1', listening); });
  const page = await openPage(browser, service);
  await page.route((url) => url.pathname === '/api/v1/nightlies', (route) => route.continue({ url: `http://127.0.0.1:${halves.address().port}/` }));
  await page.goto('/nightlies');
  await page.getByRole('heading', { name: 'The service does not respond' }).waitFor();
  await page.context().close();
});

/** Opens `address` in a page for which the service responds with `answer` at `path`. */
async function pageWhere(path, answer, address) {
  const page = await openPage(browser, service);
  await page.route((url) => url.pathname === path, (route) => route.fulfill({ json: answer }));
  await visit(page, address);
  return page;
}

const textOf = (page) => page.locator('main').innerText();

const fromNothing = {
  fleet: 'cpu', benchmark: 'test_train[alexnet-cpu-eager]', metric: 'leak', unit: 'bytes/iteration', better: 'lower', name: 'test_train[alexnet-cpu-eager]_leak',
  headline: 'from 0 to 50.00 MiB/iteration', interval: null, certainty: 'confidence 99.9%',
  verdict: 'regression', before: 0, after: 52428800, ratio: null, low: null, high: null, error_bound: 0.0001, pairs: 2, muted: false,
};

test('an increase from zero is shown by its levels, and sorts as the worst', async () => {
  const list = await read(service, '/api/v1/incidents?limit=100');
  list.items[1].changes.unshift(fromNothing);
  const page = await pageWhere('/api/v1/incidents', list, '/incidents');
  await page.getByRole('button', { name: 'Worst' }).click();
  assert.match(await page.locator('tbody tr').first().innerText(), /from 0 to 50\.00 MiB\/iteration/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a drop sorts as the worst where higher is better', async () => {
  const drop = { ...fromNothing, metric: 'tokens_per_s', unit: '1/s', better: 'higher', name: 'test_run[nanogpt-cpu-mine]_tokens_per_s', headline: '-90.0%',
    certainty: 'at least 89.0% less, confidence 99.9%', before: 1000, after: 100, ratio: 0.1, low: 0.09, high: 0.11 };
  const list = await read(service, '/api/v1/incidents?limit=100');
  // Increases from zero sort before each ratio.
  list.items = list.items.filter((one) => one.changes[0]?.ratio);
  list.items[1].changes.unshift(drop);
  const page = await pageWhere('/api/v1/incidents', list, '/incidents');
  await page.getByRole('button', { name: 'Worst' }).click();
  assert.match(await page.locator('tbody tr').first().innerText(), /-90\.0%/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a series of a metric of a suite has its unit, and says that higher is better', async () => {
  const { items } = await read(service, '/api/v1/series?limit=1');
  const asked = new URLSearchParams({ fleet: items[0].fleet, benchmark: items[0].benchmark, metric: items[0].metric });
  const history = await read(service, `/api/v1/history?${asked}`);
  const kind = { metric: 'tokens_per_s', unit: '1/s', better: 'higher', name: 'test_run[nanogpt-cpu-mine]_tokens_per_s' };
  const { date, nightly, level } = history.nights;
  level[level.length - 1] = 1234.5;
  const brief = (at) => ({ id: nightly[at], date: date[at], commit: 'a'.repeat(40) });
  const point = { nightly: brief(1), earliest: brief(1), latest: brief(2), effect: 'worse', by: 'ratio', change: 0.9, low: 0.88, high: 0.92 };
  const page = await openPage(browser, service);
  await page.route((url) => url.pathname === '/api/v1/history', (route) => route.fulfill({ json: { ...history, ...kind } }));
  await page.route((url) => url.pathname === '/api/v1/change_points', (route) => route.fulfill({ json: { ...kind, nightlies: date.length, error: 0.001, change_points: [point] } }));
  await visit(page, `/series?${new URLSearchParams({ fleet: 'cpu', benchmark: 'test_run[nanogpt-cpu-mine]', metric: 'tokens_per_s' })}`);
  await page.getByText(/change point, -10\.0% \(worse\)/).waitFor();
  assert.match(await textOf(page), /Higher is better/);
  assert.match(await textOf(page), /tokens_per_s \(1\/s\)/);
  assert.match(await textOf(page), /1,23\d 1\/s: median of/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('incidents can be filtered by state, and the address has the filter', async () => {
  const { items } = await read(service, '/api/v1/incidents?limit=500');
  const fixed = items.filter((one) => one.state === 'fixed');
  const page = await openPage(browser, service);
  await visit(page, '/incidents');
  assert.match(await textOf(page), /Worst change/);
  await page.getByLabel('State').selectOption('fixed');
  await page.waitForURL(/state=fixed/);
  await page.getByText(fixed.length ? /One incident for each change/ : /No incident is in this state/).waitFor();
  await until(page, (count) => document.querySelectorAll('tbody tr').length === count, Math.min(100, fixed.length));
  await visit(page, '/incidents?state=open%2Cexplained');
  assert.equal(await page.getByLabel('State').inputValue(), 'open,explained');
  await page.getByLabel('State').selectOption('');
  await until(page, (count) => document.querySelectorAll('tbody tr').length === count, Math.min(100, items.length));
  assert.doesNotMatch(page.url(), /state=/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a list without incidents in a state says so, and an unknown state is reported', async () => {
  const page = await pageWhere('/api/v1/incidents', { total: 0, limit: 100, offset: 0, items: [] }, '/incidents?state=stale');
  assert.match(await textOf(page), /No incident is in this state\. Choose All/);
  await page.context().close();
  const other = await openPage(browser, service);
  await other.goto('/incidents?state=closed');
  await other.locator('main [role=alert]').waitFor();
  assert.match(await textOf(other), /state: found "closed"/);
  await other.context().close();
});

const lifeOf = (incident) => {
  const commit = { sha: 'c'.repeat(40), url: null };
  const event = { id: 1, kind: 'opened', state: 'open', at: '2026-06-29T06:00:00Z', headline: 'opened in nightly 2026-06-29', nightly: { id: 1, url: '/api/v1/nightlies/1', date: '2026-06-29' },
    commit: null, detail: null, bisections: [], messages: [] };
  const message = { id: 1, destination: 'github', action: 'open_issue', progress: 'sent', done_at: '2026-06-29T06:01:00Z', place: 'https://github.com/o/r/issues/7', attempts: 0, next_at: null, failure: null };
  const back = { ...fromNothing, headline: '+0.1%', verdict: 'unchanged', before: 10, after: 10.01, unit: 'ms', ratio: 1.001, nightly: event.nightly };
  const ruling = { id: 1, url: '/api/v1/rulings/1', kind: 'accept', incident: incident.id, fleet: null, benchmark: null, metric: null, who: 'Ada', why: '<i>pays</i>', given_at: '2026-07-02T06:00:00Z', until: null };
  return { ...incident, state: 'partly_fixed', culprit: { ...commit, subject: 'Slow', author: 'Ada', time: '2026-06-28T00:00:00Z', pull_request: 123 }, rulings: [ruling], recoveries: [back],
    timeline: [
      { ...event, messages: [message] },
      { ...event, id: 2, kind: 'explained', state: 'explained', headline: 'explained', nightly: null, commit, bisections: [3], detail: 'bisection 3' },
      { ...event, id: 3, kind: 'partly_fixed', state: 'partly_fixed', headline: 'partly fixed in nightly 2026-06-29', detail: 'Revert <b>"Slow"</b>', messages: [
        { ...message, id: 2, action: 'comment', progress: 'waiting', done_at: null, place: null, attempts: 1, next_at: '2026-07-01T06:00:00Z', failure: 'no route to host' },
        { ...message, id: 3, destination: 'email', action: 'comment', progress: 'given_up', place: null, failure: 'rejected' }] },
    ] };
};

test('an incident has its state, culprit, recovered series and a timeline of events and messages', async () => {
  const { items } = await read(service, '/api/v1/incidents');
  const address = `/api/v1/incidents/${items[0].id}`;
  const answer = lifeOf(await read(service, address));
  for (const options of Object.values(looks)) {
    const page = await openPage(browser, service, options);
    await page.route((url) => url.pathname === address, (route) => route.fulfill({ json: answer }));
    await visit(page, `/incidents/${items[0].id}`);
    const text = await textOf(page);
    assert.match(text, /partly fixed/);
    assert.match(text, /cccccccccccc #123 Slow/);
    assert.match(text, /Back at the level before/);
    const events = page.locator('ol.timeline > li');
    assert.equal(await events.count(), 4);
    assert.match(await events.nth(0).innerText(), /opened, 2026-06-29[^]*GitHub issue: report/);
    assert.equal(await events.nth(0).getByRole('link', { name: 'report', exact: true }).getAttribute('href'), 'https://github.com/o/r/issues/7');
    assert.match(await events.nth(1).innerText(), /explained, cccccccccccc, Bisection 3/);
    assert.match(await events.nth(2).innerText(), /Revert <b>"Slow"<\/b>[^]*comment not sent yet: no route to host, next attempt[^]*email: comment given up: rejected/);
    assert.match(await events.nth(3).innerText(), /accepted[^]*Ada: <i>pays<\/i>/);
    assert.deepEqual(await violationsOf(page), []);
    assert.deepEqual(await cutOff(page), []);
    assert.deepEqual(page.faults, []);
    await page.context().close();
  }
});

test('an incident without events says when its report is filed', async () => {
  const { items } = await read(service, '/api/v1/incidents');
  const address = `/api/v1/incidents/${items[0].id}`;
  const incident = await read(service, address);
  const page = await pageWhere(address, { ...incident, report: null, rulings: [], timeline: [] }, `/incidents/${items[0].id}`);
  assert.match(await textOf(page), /No event yet\. The report is filed as soon as/);
  await page.context().close();
});

test('Trust shows the times to culprit and to fix by month', async () => {
  const trust = await read(service, '/api/v1/trust');
  const none = { count: 0, median_s: null, most_s: null };
  const incidents = [{ month: '2026-05', incidents: 3, to_culprit: { count: 2, median_s: 7200, most_s: 10800 }, to_fix: none }, { month: '2026-06', incidents: 1, to_culprit: none, to_fix: { count: 1, median_s: 259200, most_s: 259200 } }];
  const page = await pageWhere('/api/v1/trust', { ...trust, incidents }, '/trust');
  const rows = page.getByRole('region', { name: 'Times by the month of the nightly, newest first' }).getByRole('row');
  assert.match(await rows.nth(1).innerText(), /2026-06[^]*none yet[^]*3 days/);
  assert.match(await rows.nth(2).innerText(), /2026-05[^]*2 h 0 min \(at most 3 h 0 min\)[^]*none yet/);
  await page.context().close();
  const empty = await pageWhere('/api/v1/trust', { ...trust, incidents: [] }, '/trust');
  assert.match(await textOf(empty), /this section counts from its confirmation/);
  await empty.context().close();
});

test('an incident without a bisection shows the reason', async () => {
  const { items } = await read(service, '/api/v1/incidents');
  const address = `/api/v1/incidents/${items[0].id}`;
  const incident = await read(service, address);
  const headline = 'test_train[alexnet-cpu-eager] leaks 50.00 MiB per iteration';
  const answer = { ...incident, headline, changes: [fromNothing], bisections: [], nightly: { ...incident.nightly, state: 'done' } };
  const page = await pageWhere(address, answer, `/incidents/${items[0].id}`);
  assert.equal(await page.locator('main h1').innerText(), headline);
  assert.match(await textOf(page), /No bisection was made/);
  await page.context().close();
});

test('Tonight shows that a finding is unproved, and that a nightly was not compared', async () => {
  const tonight = await read(service, '/api/v1/tonight');
  const commit = { sha: 'a'.repeat(40), subject: 'One', author: 'Ada <ada@example.com>', time: '2026-06-29T00:00:00Z', pull_request: null, url: null };
  const words = { headline: 'Most likely commit', reason: 'not compared with its parent' };
  const finding = { ...words, kind: 'range', culprit: null, suspects: [commit], effects: [], no_revert_check: null };
  const incidents = [{ id: 1, date: '2026-06-29', opened_at: '2026-06-29T06:00:00Z', series: 1, state: 'explained', worst: fromNothing, finding, bisection: { id: 1, headline: 'Undecided', state: 'done', outcome: 'undecided' } }];
  const nightlies = [{ ...tonight.nightlies[0], state: 'done', baseline: null, progress: null, incidents: [] }];
  const page = await pageWhere('/api/v1/tonight', { ...tonight, incidents, unfinished_incidents: 9, nightlies }, '/');
  const text = await textOf(page);
  assert.match(text, /from 0 to 50\.00 MiB\/iteration/);
  assert.match(text, /9 unfinished incidents/);
  assert.match(text, /2026-06-29, explained:/);
  assert.match(text, /Most likely commit: aaaaaaaaaaaa, not compared with its parent; bisection 1: undecided/);
  assert.match(await page.locator('tbody tr').first().innerText(), /not compared/);
  await page.context().close();
});

test('a phone shows each value of a table with its name', async () => {
  const page = await openPage(browser, service, looks.phone);
  await visit(page, '/alarms');
  const row = page.getByRole('row').nth(1);
  const titles = await row.getByRole('cell').evaluateAll((all) => all.map((one) => getComputedStyle(one, '::before').content));
  assert.deepEqual(titles.map((title) => title.replaceAll('"', '').trim()), ['State', 'Kind', 'Subject', 'Detail', 'Raised', 'Cleared']);
  await page.getByRole('button', { name: 'Kind' }).click();
  assert.equal(await page.getByRole('columnheader', { name: 'Kind' }).getAttribute('aria-sort'), 'ascending');
  await page.context().close();
});

test('Tonight links to all nightlies, and waits for the first one of an empty service', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/');
  assert.equal(await page.getByRole('link', { name: 'All nightlies' }).getAttribute('href'), '/nightlies');
  await page.context().close();
  const first = await openPage(browser, empty);
  await visit(first, '/');
  assert.match(await textOf(first), /The service waits for its first nightly\./);
  await first.context().close();
});

test('a running bisection shows how many of its steps are measured', async () => {
  const { items } = await read(service, '/api/v1/bisections?limit=500');
  const open = items.find((one) => one.steps_done < one.steps_planned);
  const page = await openPage(browser, service);
  const counts = `${open.steps_done} of ${open.steps_planned}`;
  await visit(page, '/bisections');
  await page.getByRole('cell', { name: counts, exact: true }).first().waitFor();
  await visit(page, `/bisections/${open.id}`);
  assert.ok((await textOf(page)).includes(`${counts} steps measured`));
  await page.context().close();
});

test('Tonight shows the progress of a sweep', async () => {
  const sweeping = await serve(generate(['--nights', '30', '--series', '60']));
  await sweepNextNightly(sweeping, 0.5);
  const page = await openPage(browser, sweeping);
  await visit(page, '/');
  await page.locator('progress').waitFor();
  assert.match(await textOf(page), /Newest nightly: 2026-07-01[^]*\d+ process(es)? of about \d+/);
  if (pictures) await page.screenshot({ path: path.join(pictures, 'tonight-sweeping.png'), fullPage: true });
  assert.deepEqual(await violationsOf(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await sweeping.remove();
});

test('a nightly links to all its incidents', async () => {
  const { items } = await read(service, '/api/v1/nightlies');
  const address = `/api/v1/nightlies/${items[0].id}`;
  const incidents = [3, 1].map((id) => ({ id, url: `/api/v1/incidents/${id}` }));
  const page = await pageWhere(address, { ...await read(service, address), incidents }, `/nightlies/${items[0].id}`);
  assert.match(await textOf(page), /Incidents\s+Incident 3, Incident 1/);
  assert.equal(await page.locator('main a[href="/incidents/1"]').count(), 1);
  await page.context().close();
});

test('a nightly without verdicts shows the reason', async () => {
  const { items } = await read(service, '/api/v1/nightlies');
  const address = `/api/v1/nightlies/${items[0].id}`;
  const nightly = { ...await read(service, address), verdicts: [], anchored: [], incidents: [] };
  const { commit } = await read(service, '/api/v1/nightlies/1');
  const cases = [
    ['prepared', 1, /was not compared yet\./], ['done', null, /the nightly has no baseline\./], ['failed', 1, /the nightly failed before its comparisons\./],
    ['done', 1, /no series was suspicious enough to be compared\./], ['done', 1, /the baseline has the same commit\./, commit],
  ];
  for (const [state, baseline, expected, its] of cases) {
    const page = await pageWhere(address, { ...nightly, state, baseline, commit: its ?? nightly.commit }, `/nightlies/${nightly.id}`);
    assert.match(await textOf(page), expected);
    await page.context().close();
  }
});

test('a bisection shows why it is undecided, and how the builds of the nightlies differ', async () => {
  const { items } = await read(service, '/api/v1/bisections?limit=500');
  const found = items.find((one) => one.state === 'done' && one.steps_done > 0);
  const bisection = await read(service, found.url);
  const nothing = { ...fromNothing, headline: 'no figure', certainty: null, verdict: 'inconclusive', before: null, after: null };
  const packages = { headline: 'The builds differ', reason: '- and +', differences: ['- gcc 12', '+ gcc 13 <b>new</b>'], changes: [nothing] };
  const words = { headline: 'Undecided', reason: 'the good commit: could not be measured: <i>crashed</i>' };
  const page = await pageWhere(found.url, { ...bisection, ...words, outcome: 'undecided', findings: [], packages }, `/bisections/${found.id}`);
  const text = await textOf(page);
  assert.match(text, /Undecided/);
  assert.match(text, /The good commit: could not be measured: <i>crashed<\/i>/);
  assert.match(text, /The builds differ/);
  assert.match(text, /\+ gcc 13 <b>new<\/b>/);
  assert.match(text, /no figure/);
  assert.deepEqual(await violationsOf(page), []);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

describe('without scripts', () => {
  test('an incident can be read', async () => {
    const addresses = await addressesOf(service);
    const page = await openPage(browser, service, { javaScriptEnabled: false });
    await page.goto('/incidents');
    await page.locator('main li a').first().click();
    await page.goto(addresses.incident);
    const text = await page.locator('main').innerText();
    assert.match(text, /test_(train|eval)\[/);
    assert.match(text, /%/);
    assert.ok(await page.locator('main table').count() > 0);
    await page.goto('/');
    assert.match(await page.locator('main').innerText(), /JavaScript/);
  });
});

test('times are in the browser\'s time zone, with UTC in the tooltip', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/nightlies');
  const time = page.locator('main time').first();
  const iso = await time.getAttribute('datetime');
  const shown = await time.innerText();
  const expected = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'America/New_York' }).format(new Date(iso));
  assert.equal(shown, expected);
  assert.match(await time.getAttribute('title'), /UTC$/);
});
