// A service with a generated history, and a browser that looks at it.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

// CTest says where things are.
const { TORCHWATCH_BIN: bin, TORCHWATCH_NODE: node } = process.env;
const require = createRequire(path.join(node, 'package.json'));
export const { chromium } = require('playwright-core');
export const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const program = (name) => path.join(bin, name);

/** What `program` prints up to the line that `pattern` fits; it goes on. */
function lineOf(child, pattern) {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stderr });
    const said = [];
    lines.on('line', (line) => {
      said.push(line);
      const found = pattern.exec(line);
      if (found) resolve(found[1]);
    });
    child.once('exit', (status) => reject(new Error(`ended with ${status}: ${said.join('\n')}`)));
  });
}

/** A directory with a configuration and a history. */
export function generate(options = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'torchwatch-browser-'));
  execFileSync(program('torchwatch-years'), ['--out', folder, '--last-night', '2026-06-30', '--seed', '1', ...options], { stdio: 'pipe' });
  return folder;
}

/** A directory with a configuration and nothing yet. */
export function generateEmpty() {
  const folder = mkdtempSync(path.join(tmpdir(), 'torchwatch-browser-'));
  for (const inner of ['state', 'feed']) mkdirSync(path.join(folder, inner));
  writeFileSync(path.join(folder, 'torchwatch.json'), JSON.stringify({
    state_dir: 'state', feed: { kind: 'directory', path: 'feed', poll_s: 86400, overdue_s: 0 }, builds: { quota_mib: 0, keep_free_mib: 0 },
    fleets: [{ name: 'cpu', device: 'cpu' }], suite: { models: ['alexnet'] }, http: { port: 0 },
  }));
  return folder;
}

/** A service on `folder`, which it may keep for itself; `http` goes into its configuration. */
export async function serve(folder, http = {}) {
  const file = path.join(folder, 'torchwatch.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  const token = 'correct-horse-battery-staple';
  writeFileSync(path.join(folder, 'token'), token, { mode: 0o600 });
  config.http = { port: 0, token_file: 'token', ...http };
  writeFileSync(file, JSON.stringify(config));
  let child = null;
  const start = async () => {
    child = spawn(program('torchwatch'), ['--config', file, 'serve'], { stdio: ['ignore', 'ignore', 'pipe'] });
    return lineOf(child, /http_listening url=(\S+)/);
  };
  const stop = () => new Promise((resolve) => {
    if (child.exitCode !== null) { resolve(); return; }
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
  const url = await start();
  return {
    url,
    token,
    folder,
    stop,
    /** The same at the same address, after stop(). */
    async startAgain() {
      config.http.port = Number(new URL(url).port);
      writeFileSync(file, JSON.stringify(config));
      await start();
    },
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function openBrowser() {
  return chromium.launch({ executablePath: process.env.TORCHWATCH_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A page that keeps what must not happen: errors, refused policies, requests to anybody else. */
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

/** Goes to a page, and waits until it has something to show. */
export async function visit(page, address) {
  await page.goto(address);
  await page.locator('main h1').first().waitFor();
}
