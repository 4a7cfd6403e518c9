// The pages Compare and Trust: choices, order, and addresses that reproduce a view.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { generate, openBrowser, openPage, serve, visit } from './world.js';

let service;
let browser;

const read = async (address) => (await fetch(service.url + address)).json();

before(async () => {
  service = await serve(generate(['--nights', '60', '--series', '60']));
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await service?.remove();
});

const choice = (page, name) => page.locator(`select[name=${name}]`);

test('the two newest nightlies are compared by default', async () => {
  const { nightly } = (await read('/api/v1/compare')).after;
  const page = await openPage(browser, service);
  await visit(page, '/compare');
  assert.equal(await choice(page, 'after').inputValue(), String(nightly.id));
  assert.match(await page.locator('main').innerText(), /tests in common/);
  assert.ok(await page.locator('svg.figure').count() > 1);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('the address contains the choices and reproduces the view', async () => {
  const { nightlies } = await read('/api/v1/sides');
  const page = await openPage(browser, service);
  await visit(page, '/compare');
  await choice(page, 'before').selectOption(String(nightlies.id.at(-1)));
  await choice(page, 'before_fleet').selectOption('cpu');
  await choice(page, 'after_fleet').selectOption('gpu');
  await choice(page, 'sort').selectOption('latency');
  await page.waitForURL(/sort=latency/);
  await page.getByText('(gpu, cuda, eager)').waitFor();
  const labels = (of) => of.locator('svg.figure').first().locator('text').allInnerTexts();
  const other = await openPage(browser, service);
  await visit(other, page.url());
  assert.deepEqual(await labels(other), await labels(page));
  for (const name of ['before', 'after', 'before_fleet', 'after_fleet', 'sort'])
    assert.equal(await choice(other, name).inputValue(), await choice(page, name).inputValue(), name);
  assert.deepEqual([...page.faults, ...other.faults], []);
  await page.context().close();
  await other.context().close();
});

test('swapping the sides inverts the ratios', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/compare?before_fleet=cpu&after_fleet=gpu');
  const mean = async () => Number(await page.locator('tbody td.number').first().innerText());
  const [before, first] = [await choice(page, 'before').inputValue(), await mean()];
  await page.getByRole('button', { name: 'Swap sides' }).click();
  await page.getByText('(cpu, cpu, eager) compared with').waitFor();
  assert.equal(await choice(page, 'after').inputValue(), before);
  assert.ok(Math.abs(first * await mean() - 1) < 0.02);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('GPU time by activity is shown for the whole suite, with the date of the profile', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/compare?before_fleet=gpu&after_fleet=gpu');
  await page.getByRole('heading', { name: 'GPU time by activity' }).waitFor();
  await page.getByText(/^Share of an iteration's time, profiled on \d{4}-\d{2}-\d{2}/).waitFor();
  const { gpu } = await (await fetch(`${service.url}/api/v1/compare?before_fleet=gpu&after_fleet=gpu`)).json();
  for (const [name, kind] of [['Training', 'train'], ['Inference', 'eval']]) {
    const figure = page.locator('figure').filter({ hasText: name }).locator('svg[aria-label*="shares of time"]');
    const widths = await figure.first().locator('rect').evaluateAll((all) => all.map((one) => Number(one.getAttribute('width'))));
    assert.equal(widths.length, 3 * gpu.after.filter((one) => one.test === kind).length);
    assert.ok(widths.length > 0);
    const sums = widths.flatMap((_, i) => (i % 3 === 0 ? [widths[i] + widths[i + 1] + widths[i + 2]] : []));
    assert.ok(sums.every((sum) => Math.abs(sum - sums[0]) < 0.01), 'the shares of a model add up to the full width');
  }
  assert.ok(await page.getByRole('table').filter({ hasText: 'Mean shares of time by domain' }).getByText('%').count() >= 9);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

/** Opens Compare with the metric tokens_per_s, whose higher values are better, in each row: 10% more on the candidate. */
async function pageWithThroughput(address) {
  const compared = await read('/api/v1/compare');
  compared.metrics.push({ metric: 'tokens_per_s', unit: '1/s', better: 'higher' });
  for (const row of compared.rows) row.metrics.tokens_per_s = { before: 1000, after: 1100, ratio: 1.1 };
  compared.means.push({ domain: null, test: 'eval', fleet: compared.rows[0].fleet, device: null, backend: null, metric: 'tokens_per_s', ratio: 1.1, benchmarks: 1 });
  const choices = await read('/api/v1/sides');
  choices.metrics.push({ metric: 'tokens_per_s', unit: '1/s', better: 'higher' });
  choices.backends = ['eager', 'inductor'];
  const page = await openPage(browser, service);
  await page.route((url) => url.pathname === '/api/v1/compare', (route) => route.fulfill({ json: compared }));
  await page.route((url) => url.pathname === '/api/v1/sides', (route) => route.fulfill({ json: choices }));
  await visit(page, address);
  return page;
}

test('a rise is better where higher is better', async () => {
  const page = await pageWithThroughput('/compare');
  const text = await page.locator('main').innerText();
  assert.match(text, /Higher values are better for tokens_per_s/);
  assert.match(text, /tokens_per_s ratio \(higher is better\)/);
  assert.match(text, /1,000 → 1,100 1\/s/);
  const figure = page.locator('figure').filter({ hasText: 'tokens_per_s, higher is better' }).first();
  assert.ok(await figure.locator('rect.bar-good').count() > 0);
  assert.equal(await figure.locator('rect.bar-bad').count(), 0);
  await choice(page, 'sort').selectOption('tokens_per_s');
  await page.waitForURL(/sort=tokens_per_s/);
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a link compares two backends on the nightly of the candidate', async () => {
  const { nightly } = (await read('/api/v1/compare')).after;
  const page = await pageWithThroughput('/compare');
  const link = page.getByRole('link', { name: 'inductor with eager' });
  const query = new URL(await link.getAttribute('href'), service.url).searchParams;
  assert.deepEqual(Object.fromEntries(query), { before: String(nightly.id), after: String(nightly.id), before_backend: 'eager', after_backend: 'inductor' });
  await link.click();
  await page.waitForURL(/after_backend=inductor/);
  // the address changes before the page is drawn
  await page.locator('select[name=after_backend]:has(option[value=inductor]:checked)').waitFor();
  assert.equal(await choice(page, 'before_backend').inputValue(), 'eager');
  assert.deepEqual(page.faults, []);
  await page.context().close();
});

test('a missing side is reported, and another one can be chosen', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/compare?before=0');
  await page.getByText('before: found "0"').waitFor();
  await choice(page, 'before').selectOption({ index: 3 });
  await page.getByText('tests in common').waitFor();
  await page.context().close();
});

test('noise is shown for the chosen metric', async () => {
  const page = await openPage(browser, service);
  await visit(page, '/trust');
  await page.getByLabel('Metric').selectOption('cmem');
  await page.waitForURL(/metric=cmem/);
  await page.getByRole('link', { name: /_cmem$/ }).first().waitFor();
  assert.equal(await page.getByRole('link', { name: /_latency$/ }).count(), await page.locator('details').getByRole('link', { name: /_latency$/ }).count());
  assert.deepEqual(page.faults, []);
  await page.context().close();
});
