// A browser that opens pages of the service.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export { generate, generateEmpty, serve, sweepNextNightly } from './service.js';

// Set by CTest: the directory of the npm packages.
const { TORCHWATCH_NODE: node } = process.env;
const require = createRequire(path.join(node, 'package.json'));
export const { chromium } = require('playwright-core');
export const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export function openBrowser() {
  return chromium.launch({ executablePath: process.env.TORCHWATCH_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** Opens a page that collects faults: errors, violations of the content security policy, and requests to other sites. */
export async function openPage(browser, service, options = {}) {
  const context = await browser.newContext({ baseURL: service.url, locale: 'en-GB', timezoneId: 'America/New_York', viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  const faults = [];
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const expected = /status of (401|404|400|409|503)|ERR_CONNECTION|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE/.test(message.text());
    if (message.type() === 'error' && !expected) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== service.url && !['blob:', 'data:'].includes(protocol)) faults.push(`request to ${request.url()}`);
  });
  page.faults = faults;
  return page;
}

/** Goes to a page and waits until it shows its content. */
export async function visit(page, address) {
  await page.goto(address);
  await page.locator(`main[data-shown="${new URL(page.url()).pathname}"] h1`).first().waitFor();
}

/** Waits until `predicate` is true in the page. The page forbids `eval`, which Playwright's waitForFunction needs. */
export async function until(page, predicate, argument) {
  const end = Date.now() + 10_000;
  while (!(await page.evaluate(predicate, argument))) {
    if (Date.now() > end) throw new Error(`after 10 s this is not true: ${predicate}`);
    await page.waitForTimeout(50);
  }
}
