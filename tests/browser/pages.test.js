// Every page: it shows content, violates no policy, loads nothing from other sites, and is accessible.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { axeSource, generate, generateEmpty, openBrowser, openPage, serve, sweepNextNightly, visit } from './world.js';

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
      });
    }
    await page.context().close();
  });
}

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

/** Opens `address` in a page for which the service responds with `answer` at `path`. */
async function pageWhere(path, answer, address) {
  const page = await openPage(browser, service);
  await page.route((url) => url.pathname === path, (route) => route.fulfill({ json: answer }));
  await visit(page, address);
  return page;
}

const textOf = (page) => page.locator('main').innerText();

const fromNothing = {
  fleet: 'cpu', benchmark: 'test_train[alexnet-cpu-eager]', metric: 'leak', unit: 'bytes/iteration', name: 'test_train[alexnet-cpu-eager]_leak',
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
  const incidents = [{ ...tonight.incidents[0], ruling: null, worst: fromNothing, finding, bisection: { id: 1, headline: 'Undecided', state: 'done', outcome: 'undecided' } }];
  const nightlies = [{ ...tonight.nightlies[0], state: 'done', baseline: null, progress: null, incident: null }];
  const page = await pageWhere('/api/v1/tonight', { ...tonight, incidents, nightlies }, '/');
  const text = await textOf(page);
  assert.match(text, /from 0 to 50\.00 MiB\/iteration/);
  assert.match(text, /Most likely commit: aaaaaaaaaaaa, not compared with its parent; its bisection: Undecided/);
  assert.match(await page.locator('tbody tr').first().innerText(), /not compared/);
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

test('a nightly without verdicts shows the reason', async () => {
  const { items } = await read(service, '/api/v1/nightlies');
  const address = `/api/v1/nightlies/${items[0].id}`;
  const nightly = { ...await read(service, address), verdicts: [], anchored: [], incident: null };
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
  assert.match(text, /the good commit: could not be measured: <i>crashed<\/i>/);
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
