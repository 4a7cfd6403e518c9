// Many tabs of one browser: they share one line to the service's events, so that none of them hangs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { generate, openBrowser, openPage, serve, visit } from './world.js';

const tabs = 8; // a browser has six connections to one host

let service;
let browser;

before(async () => {
  service = await serve(generate(['--nights', '60', '--series', '60']));
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await service?.remove();
});

async function linesOpened() {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const found = [...text.matchAll(/^torchwatch_http_requests_total\{(.*route="\/api\/v1\/events".*)\} (\d+)/gm)];
  return found.reduce((sum, [, , count]) => sum + Number(count), 0);
}

const incidents = async () => (await (await fetch(`${service.url}/api/v1/incidents?limit=500`)).json()).items;

/** Says `why` of an incident, which changes its page. */
async function rule(incident, why) {
  const response = await fetch(`${service.url}/api/v1/rulings`, {
    method: 'POST', headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'accept', incident: incident.id, who: 'Grace', why }),
  });
  assert.equal(response.status, 201);
}

/** Pages of one browser that show the incident. `prepare`: what is done to the browser before. */
async function openTabs(incident, prepare = async () => {}) {
  const first = await openPage(browser, service);
  await prepare(first.context());
  const pages = [first];
  while (pages.length < tabs) pages.push(await first.context().newPage());
  for (const page of pages) {
    page.setDefaultTimeout(15000);
    await visit(page, `/incidents/${incident.id}`);
    await page.getByText('Service is well').waitFor();
  }
  return pages;
}

const allShow = (pages, text) => Promise.all(pages.map((page) => page.getByText(text).waitFor({ timeout: 20000 })));

test('eight tabs share one line, and each shows what changes', async () => {
  const [incident] = await incidents();
  const before = await linesOpened();
  const pages = await openTabs(incident);
  await rule(incident, 'heard by a worker');
  await allShow(pages, 'heard by a worker');
  assert.equal(await linesOpened() - before, 1);
  assert.deepEqual(pages[0].faults, []);
  await pages[0].context().close();
});

test('so do eight tabs of a browser without SharedWorker, and another takes over when the one that listens is closed', async () => {
  const [, incident] = await incidents();
  const before = await linesOpened();
  const pages = await openTabs(incident, (context) => context.addInitScript(() => { delete window.SharedWorker; }));
  await rule(incident, 'heard over a channel');
  await allShow(pages, 'heard over a channel');
  const opened = await linesOpened() - before;
  assert.ok(opened <= 2, `${opened} lines: two tabs may begin in the same moment, and one of them lets go`);
  assert.deepEqual(pages[0].faults, []);

  await pages.shift().close();
  for (let tries = 0; await linesOpened() - before <= opened; tries += 1) {
    assert.ok(tries < 150, 'no tab takes over');
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  await rule(incident, 'heard by another tab');
  await allShow(pages, 'heard by another tab');
  await pages[0].context().close();
});
