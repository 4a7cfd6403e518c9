// Actions of a user: buttons, keys, tokens and links; and a lost connection.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { generate, openBrowser, openPage, serve, until, visit } from './world.js';

let service;
let browser;

const read = async (address) => (await fetch(service.url + address)).json();

before(async () => {
  service = await serve(generate(['--nights', '120', '--series', '60']));
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await service?.remove();
});

async function giveToken(page, token) {
  await page.locator('dialog input[name=token]').fill(token);
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function giveReason(page, action) {
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('Reason').fill('a new default');
  await page.locator('dialog').getByRole('button', { name: action, exact: true }).click();
}

/** The newest bisection in one of `states`; undefined if there is none. The service may change it at any time. */
async function bisectionIn(...states) {
  const { items } = await read('/api/v1/bisections?limit=500');
  return items.find((one) => states.includes(one.state));
}

test('an incident is accepted, marked as false alarm and muted, and the token is requested once', async () => {
  const { items } = await read('/api/v1/incidents?limit=500');
  const incident = items.find((one) => one.changes.length > 0);
  const page = await openPage(browser, service);
  await visit(page, `/incidents/${incident.id}`);

  await page.getByRole('button', { name: 'Accept' }).click();
  await giveReason(page, 'Accept');
  await giveToken(page, service.token);
  await page.locator('.timeline').getByText('accepted', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'False alarm' }).click();
  await giveReason(page, 'Mark as false alarm');
  await page.locator('.timeline').getByText('false alarm', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'Mute' }).click();
  await page.getByLabel('Until').fill('2036-01-01');
  await giveReason(page, 'Mute');
  await page.getByText('Series muted.').waitFor();

  const rulings = (await read('/api/v1/rulings?limit=500')).items.filter((one) => one.who === 'Ada');
  assert.deepEqual(rulings.map((one) => one.kind).sort(), ['accept', 'false_alarm', 'mute']);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a wrong token is rejected and requested again; cancelling changes nothing', async () => {
  const { items } = await read('/api/v1/incidents?limit=500');
  const before = (await read('/api/v1/rulings?limit=500')).total;
  const page = await openPage(browser, service);
  await visit(page, `/incidents/${items[0].id}`);
  await page.getByRole('button', { name: 'Accept' }).click();
  await giveReason(page, 'Accept');
  await giveToken(page, 'wrong');
  await page.getByText('The service rejected this token.').waitFor();
  await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('rejected').or(page.locator('#notice .bad')).first().waitFor();
  assert.equal((await read('/api/v1/rulings?limit=500')).total, before);
  await page.context().close();
});

test('a token is stored in the page only', async () => {
  const page = await openPage(browser, service);
  await visit(page, `/incidents/${(await read('/api/v1/incidents')).items[0].id}`);
  await page.getByRole('button', { name: 'Accept' }).click();
  await giveReason(page, 'Accept');
  await giveToken(page, service.token);
  await page.getByText('Incident accepted.').waitFor();
  const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]));
  assert.equal(kept, '[[],[],""]');
  await page.context().close();
});

test('a bisection is paused, resumed and cancelled, and says why it cannot be repeated', async () => {
  const page = await openPage(browser, service);
  const paused = await bisectionIn('paused');
  await visit(page, `/bisections/${paused.id}`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('dialog').getByRole('button', { name: 'Cancel the bisection' }).click();
  await giveToken(page, service.token);
  await page.getByText('Cancelled', { exact: true }).waitFor();
  assert.equal((await read(`/api/v1/bisections/${paused.id}`)).state, 'cancelled');

  await page.getByRole('button', { name: 'Bisect again' }).click();
  await page.getByText(/object not found.*fetch origin into/).waitFor(); // the clone of these years lacks the commits

  const active = await bisectionIn('queued', 'running');
  if (active) {
    await page.goto(`/bisections/${active.id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await giveToken(page, service.token);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  }
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a chart is zoomed, panned and read by keys alone, and its address reproduces the view', async () => {
  const { items } = await read('/api/v1/series?limit=500');
  const { fleet, benchmark, metric } = items.find((one) => one.metric === 'latency');
  const page = await openPage(browser, service);
  await visit(page, `/series?${new URLSearchParams({ fleet, benchmark, metric })}`);
  const chart = page.locator('.chart');
  await page.locator('.dygraph-axis-label').first().waitFor();
  await chart.focus();
  const nightly = () => page.locator('section.panel h2').innerText();
  const last = await nightly();
  await page.keyboard.press('ArrowLeft');
  await until(page, (text) => document.querySelector('section.panel h2').textContent !== text, last);
  await page.keyboard.press('+');
  await page.waitForURL(/from=.*to=/);
  const zoomed = page.url();
  await page.keyboard.press('PageUp');
  await page.waitForURL((url) => url.href !== zoomed);
  const panned = page.url();
  const other = await openPage(browser, service);
  await visit(other, panned);
  await other.locator('.dygraph-axis-label').first().waitFor();
  const labels = (of) => of.locator('.dygraph-axis-label-x').allInnerTexts();
  assert.deepEqual(await labels(other), await labels(page));
  await page.keyboard.press('0');
  await page.waitForURL((url) => !url.search.includes('from='));
  assert.deepEqual([...page.faults, ...other.faults], []);
  await page.context().close();
  await other.context().close();
});

test('a chart is saved as a picture and as CSV', async () => {
  const { items } = await read('/api/v1/series?limit=500');
  const { fleet, benchmark, metric } = items.find((one) => one.metric === 'latency');
  const page = await openPage(browser, service);
  await visit(page, `/series?${new URLSearchParams({ fleet, benchmark, metric })}`);
  await page.locator('.dygraph-axis-label').first().waitFor();
  const [picture] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'PNG' }).click()]);
  const bytes = readFileSync(await picture.path());
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  assert.ok(bytes.length > 10000);
  const [csv] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()]);
  assert.match(readFileSync(await csv.path(), 'utf8'), /^nightly,date,commit,level/);
  await page.context().close();
});

test('a second series is drawn on the same chart', async () => {
  const { items } = await read('/api/v1/series?limit=500');
  const [first, second] = items.filter((one) => one.metric === 'latency');
  const page = await openPage(browser, service);
  await visit(page, `/series?${new URLSearchParams({ fleet: first.fleet, benchmark: first.benchmark, metric: first.metric })}`);
  await page.getByLabel('Compare with').fill(`${second.name} on ${second.fleet}`);
  await page.getByLabel('Compare with').press('Tab');
  await page.waitForURL(/with=/);
  await page.locator('.dygraph-axis-label').first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('series are searched and sorted, and the address reproduces the list', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/series');
  await page.getByLabel('Search').fill('train latency');
  await page.getByRole('button', { name: 'Series' }).click();
  const rows = await page.locator('tbody tr td:first-child').allInnerTexts();
  assert.ok(rows.length > 0 && rows.every((name) => name.startsWith('test_train') && name.endsWith('latency')));
  assert.deepEqual(rows, [...rows].sort((one, other) => one.localeCompare(other, undefined, { numeric: true })));
  const other = await openPage(browser, service);
  await visit(other, page.url());
  assert.deepEqual(await other.locator('tbody tr td:first-child').allInnerTexts(), rows);
  await page.context().close();
  await other.context().close();
});

test('links change the page without loading a document, and Back returns', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/');
  await page.getByRole('navigation').getByRole('link', { name: 'Incidents' }).click();
  await page.getByRole('heading', { name: 'Incidents' }).waitFor();
  await page.evaluate(() => { window.stillHere = true; });
  await page.getByRole('navigation').getByRole('link', { name: 'Series' }).click();
  await page.getByRole('heading', { name: 'Series' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Incidents' }).waitFor();
  assert.equal(await page.evaluate(() => window.stillHere), true);
  await page.context().close();
});

test('a page shows a new ruling without a reload', async () => {
  const { items } = await read('/api/v1/incidents?limit=500');
  const incident = items[items.length - 1];
  const page = await openPage(browser, service);
  await visit(page, `/incidents/${incident.id}`);
  await page.getByText('Service is healthy').waitFor();
  const response = await fetch(`${service.url}/api/v1/rulings`, {
    method: 'POST', headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'accept', incident: incident.id, who: 'Grace', why: 'seen elsewhere' }),
  });
  assert.equal(response.status, 201);
  await page.getByText('seen elsewhere').waitFor({ timeout: 10000 });
  await page.context().close();
});

test('a lost connection is shown and restored', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/nightlies');
  await page.getByText('Service is healthy').waitFor();
  await service.stop();
  await page.getByText('Service does not respond').waitFor({ timeout: 20000 });
  await page.getByRole('navigation').getByRole('link', { name: 'Incidents' }).click();
  await page.getByRole('heading', { name: 'The service does not respond' }).waitFor();
  await service.startAgain();
  await page.getByText('Service is healthy').waitFor({ timeout: 40000 });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Incidents' }).waitFor();
  await page.context().close();
});

test('with a token for reading, pages request it and show nothing before', async () => {
  const guarded = await serve(generate(['--nights', '60', '--series', '60']), { read_token_file: 'token' });
  const page = await openPage(browser, guarded);
  await page.goto('/incidents');
  await page.getByText('This service requires a token for reading.').waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /test_/);
  await giveToken(page, guarded.token);
  await page.locator('main tbody tr').first().waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Series' }).click();
  await page.locator('main tbody tr').first().waitFor();
  await page.context().close();
  await guarded.remove();
});
