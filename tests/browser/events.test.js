// Many tabs of one browser share one connection to the service's events, so that no tab hangs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { generate, openBrowser, openPage, serve, visit } from './world.js';

const tabs = 8; // a browser opens at most six connections to a host

let service;
let browser;

before(async () => {
  service = await serve(generate(['--nights', '120', '--series', '60']));
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await service?.remove();
});

async function connectionsOpened() {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const found = [...text.matchAll(/^torchwatch_http_requests_total\{(.*route="\/api\/v1\/events".*)\} (\d+)/gm)];
  return found.reduce((sum, [, , count]) => sum + Number(count), 0);
}

const incidents = async () => (await (await fetch(`${service.url}/api/v1/incidents?limit=500`)).json()).items;

/** Accepts an incident with the reason `why`, which changes its page. */
async function rule(incident, why) {
  const response = await fetch(`${service.url}/api/v1/rulings`, {
    method: 'POST', headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'accept', incident: incident.id, who: 'Grace', why }),
  });
  assert.equal(response.status, 201);
}

/** Opens `tabs` pages of one browser on the incident. `prepare` changes the browser before. */
async function openTabs(incident, prepare = async () => {}) {
  const first = await openPage(browser, service);
  await prepare(first.context());
  const pages = [first];
  while (pages.length < tabs) pages.push(await first.context().newPage());
  for (const page of pages) {
    page.setDefaultTimeout(15000);
    await visit(page, `/incidents/${incident.id}`);
    await page.getByText('Service is healthy').waitFor();
  }
  return pages;
}

const allShow = (pages, text) => Promise.all(pages.map((page) => page.getByText(text).waitFor({ timeout: 20000 })));

test('eight tabs share one connection, and each shows a new ruling', async () => {
  const [incident] = await incidents();
  const before = await connectionsOpened();
  const pages = await openTabs(incident);
  await rule(incident, 'received by the worker');
  await allShow(pages, 'received by the worker');
  assert.equal(await connectionsOpened() - before, 1);
  assert.deepEqual(pages[0].faults, []);
  await pages[0].context().close();
});

test('eight tabs without SharedWorker share one connection, and another tab takes over when its owner closes', async () => {
  const [, incident] = await incidents();
  const before = await connectionsOpened();
  const pages = await openTabs(incident, (context) => context.addInitScript(() => { delete window.SharedWorker; }));
  await rule(incident, 'received over the channel');
  await allShow(pages, 'received over the channel');
  const opened = await connectionsOpened() - before;
  assert.ok(opened <= 2, `${opened} connections, expected at most 2: two tabs may connect together, then one disconnects`);
  assert.deepEqual(pages[0].faults, []);

  await pages.shift().close();
  for (let tries = 0; await connectionsOpened() - before <= opened; tries += 1) {
    assert.ok(tries < 150, 'no tab took over the connection');
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  await rule(incident, 'received by another tab');
  await allShow(pages, 'received by another tab');
  await pages[0].context().close();
});

test('a refresh keeps the order of a table and the older rows', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/nightlies');
  const older = page.getByRole('button', { name: /Show older ones/ });
  await older.click();
  const rows = page.locator('tbody tr');
  await rows.nth(100).waitFor();
  const id = page.getByRole('columnheader').first();
  await id.getByRole('button').click();
  await id.getByRole('button').click();
  const order = () => Promise.all([id.getAttribute('aria-sort'), rows.count(), rows.first().innerText()]);
  const before = await order();
  assert.notEqual(before[0], null);
  const [, , incident] = await incidents();
  const refreshed = page.waitForResponse((response) => response.url().includes('/api/v1/nightlies?'));
  await page.evaluate(() => { document.querySelector('tbody').dataset.old = 'yes'; });
  await rule(incident, 'seen by a list');
  await refreshed;
  await page.locator('tbody:not([data-old])').waitFor();
  assert.deepEqual(await order(), before);
  await page.context().close();
});

/** Makes the page refresh by a ruling, calls `act` while the refresh waits for `path`, then waits until it has redrawn the table. */
async function duringRefresh(page, path, why, act) {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  const isHeld = (url) => url.pathname === path;
  await page.route(isHeld, async (route) => {
    await released;
    await route.continue();
  }, { times: 1 });
  const held = page.waitForRequest((request) => isHeld(new URL(request.url())));
  await rule((await incidents())[3], why);
  await held;
  await page.evaluate(() => { document.querySelector('tbody').dataset.old = 'yes'; });
  await act(release);
  release();
  await page.locator('tbody:not([data-old])').first().waitFor();
}

test('a click during a refresh sorts the table', async () => {
  for (const path of ['nightlies', 'compare']) {
    const page = await openPage(browser, service);
    await visit(page, `/${path}`);
    const head = page.getByRole('columnheader').filter({ has: page.getByRole('button') }).last();
    await duringRefresh(page, `/api/v1/${path}`, `sorted on ${path}`, async () => {
      await head.getByRole('button').click();
      assert.notEqual(await head.getAttribute('aria-sort'), null);
    });
    assert.notEqual(await head.getAttribute('aria-sort'), null);
    await page.context().close();
  }
});

test('older rows that were asked for during a refresh stay', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/nightlies');
  const rows = page.locator('tbody tr');
  await duringRefresh(page, '/api/v1/nightlies', 'older rows', async () => {
    await page.getByRole('button', { name: /Show older ones/ }).click();
    await rows.nth(100).waitFor();
  });
  assert.ok(await rows.count() > 100, `${await rows.count()} rows`);
  await page.context().close();
});

test('a refresh does not redraw a button that is pressed', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/nightlies');
  const head = page.getByRole('columnheader').first();
  await duringRefresh(page, '/api/v1/nightlies', 'pressed', async (release) => {
    await head.getByRole('button').hover();
    await page.mouse.down();
    const response = page.waitForResponse((one) => one.url().includes('/api/v1/nightlies?'));
    release();
    await response;
    await page.waitForTimeout(300); // a redraw would be done by now
    await page.mouse.up();
    assert.notEqual(await head.getAttribute('aria-sort'), null);
  });
  assert.notEqual(await head.getAttribute('aria-sort'), null);
  await page.context().close();
});

test('a refresh waits while text is selected', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/nightlies');
  await page.waitForTimeout(2500); // the refresh after the first connection
  const commit = page.locator('tbody code').first();
  await commit.selectText();
  const selected = () => page.evaluate(() => window.getSelection().toString());
  const text = await selected();
  assert.match(text, /^[0-9a-f]{12}$/);
  await page.evaluate(() => { document.querySelector('tbody').dataset.old = 'yes'; });
  await rule((await incidents())[3], 'while text is selected');
  await page.waitForTimeout(5000); // a refresh would be done by now
  assert.equal(await selected(), text);
  await page.evaluate(() => window.getSelection().empty());
  await page.locator('tbody:not([data-old])').first().waitFor();
  await page.context().close();
});
