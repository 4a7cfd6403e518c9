// Hostile texts: HTML, Markdown, right-to-left marks, 10,000 characters. Pages show them as text and run nothing.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { generate, openBrowser, openPage, serve, visit } from './world.js';

let service;
let browser;

const read = async (address) => (await fetch(service.url + address)).json();

before(async () => {
  service = await serve(generate(['--nights', '120', '--series', '60', '--hostile']));
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await service?.remove();
});

test('hostile texts are shown harmlessly on every page', async (t) => {
  const incidents = (await read('/api/v1/incidents?limit=500')).items;
  const bisections = (await read('/api/v1/bisections?limit=500')).items;
  const details = await Promise.all(bisections.map((one) => read(one.url)));
  const texts = JSON.stringify([incidents, details, await read('/api/v1/rulings?limit=500'), await read('/api/v1/alarms?limit=500')]);
  for (const needed of ['<script', '\u202e', '](']) assert.ok(texts.includes(needed), `the history has no ${JSON.stringify(needed)}`);
  const addresses = ['/', '/nightlies', '/series', '/incidents', '/bisections', '/alarms', '/compare', '/trust',
    ...incidents.slice(-8).map((one) => `/incidents/${one.id}`), ...bisections.slice(-8).map((one) => `/bisections/${one.id}`)];
  for (const javaScriptEnabled of [true, false]) {
    const page = await openPage(browser, service, { javaScriptEnabled });
    page.on('dialog', (dialog) => { page.faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    for (const address of addresses) {
      await t.test(`${address} ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
        await page.goto(address);
        if (javaScriptEnabled) await page.locator('main h1').first().waitFor();
        assert.deepEqual(page.faults.splice(0), []);
        // Only elements of the dashboard itself.
        assert.equal(await page.locator('script:not([src^="/assets/"])').count(), 0);
        assert.equal(await page.locator('main iframe, main img, main object, main embed, main form, main style').count(), 0);
        const links = await page.locator('main a[href]').evaluateAll((all) => all.map((link) => link.protocol));
        assert.ok(links.every((protocol) => protocol === 'http:' || protocol === 'https:'), links.join());
        if (!javaScriptEnabled) return;
        const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
        assert.ok(wide <= screen, `the page is ${wide} px wide on a screen of ${screen} px`);
      });
    }
    await page.context().close();
  }
});
