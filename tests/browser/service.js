// Starts the service on a generated history.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

// Set by CTest: the directory of the programs.
const { TORCHWATCH_BIN: bin } = process.env;

export const program = (name) => path.join(bin, name);

/** Waits until `child` prints a line on stderr that matches `pattern`. Resolves to the pattern's first group. */
function lineOf(child, pattern) {
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stderr });
    const printed = [];
    lines.on('line', (line) => {
      printed.push(line);
      const found = pattern.exec(line);
      if (found) resolve(found[1]);
    });
    child.once('exit', (status) => reject(new Error(`ended with ${status}: ${printed.join('\n')}`)));
  });
}

/** Writes a directory with a configuration and a history. `options`: of torchwatch-years. */
export function generate(options = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'torchwatch-browser-'));
  execFileSync(program('torchwatch-years'), ['--out', folder, '--last-night', '2026-06-30', '--seed', '1', ...options], { stdio: 'pipe' });
  return folder;
}

/** Writes a directory with a configuration and no history. */
export function generateEmpty() {
  const folder = mkdtempSync(path.join(tmpdir(), 'torchwatch-browser-'));
  for (const inner of ['state', 'feed']) mkdirSync(path.join(folder, inner));
  writeFileSync(path.join(folder, 'torchwatch.json'), JSON.stringify({
    state_dir: 'state', feed: { kind: 'directory', path: 'feed', poll_s: 86400, overdue_s: 0, stale_days: 0 }, builds: { quota_mib: 0, keep_free_mib: 0 },
    fleets: [{ name: 'cpu', device: 'cpu' }], suite: { models: ['alexnet'] }, http: { port: 0 },
  }));
  return folder;
}

/** Starts a service on `folder`, which remove() deletes. `http` is merged into its configuration. */
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
    get pid() { return child.pid; },
    stop,
    /** Starts the service again at the same address, after stop(). `change` is merged into its configuration. */
    async startAgain(change = {}) {
      Object.assign(config, change);
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

/** The script for scripted workers: each benchmark of a fleet takes `seconds`. */
async function scriptFor(service, fleet, seconds) {
  const benchmarks = {};
  for (let offset = 0, total = 1; offset < total; offset += 500) {
    const page = await (await fetch(`${service.url}/api/v1/series?limit=500&offset=${offset}`)).json();
    total = page.total;
    for (const one of page.items) if (one.fleet === fleet) benchmarks[one.benchmark] = { seconds };
  }
  return { benchmarks };
}

/** The prefix of a commit's published build in the directory `builds`. */
function prefixOf(commit, builds) {
  const prefixes = readdirSync(builds).map((name) => path.join(builds, name, 'libtorch'));
  const found = prefixes.find((prefix) => existsSync(prefix) && JSON.parse(readFileSync(path.join(prefix, 'build.json'), 'utf8')).commit === commit);
  if (!found) throw new Error(`${builds} has no build of ${commit}`);
  return found;
}

export async function jobsMeasured(service) {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return [...text.matchAll(/^torchwatch_jobs_total\{.*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/**
 * Delivers the next nightly to a service with a generated history. Returns when the sweep on the fleet cpu has started.
 * Each process takes `seconds`. `builds`: the directory of builds in the history.
 */
export async function sweepNextNightly(service, seconds, builds = path.join(service.folder, 'state/builds')) {
  const newest = (await (await fetch(`${service.url}/api/v1/nightlies?limit=1`)).json()).items[0];
  const script = JSON.stringify(await scriptFor(service, 'cpu', seconds));
  await service.stop();
  const dayAfter = new Date(Date.parse(newest.date) + 86400000).toISOString().slice(0, 10);
  const delivered = path.join(service.folder, 'feed', dayAfter);
  mkdirSync(delivered);
  writeFileSync(path.join(delivered, 'build.json'), JSON.stringify({ commit: 'f'.repeat(40), date: dayAfter, version: 'next' }));
  for (const prefix of [delivered, prefixOf(newest.commit, builds)]) writeFileSync(path.join(prefix, 'script.json'), script);
  await service.startAgain({ fleets: [{ name: 'cpu', device: 'cpu' }], measure: { worker: program('scripted-worker') } });
  for (let tries = 0; await jobsMeasured(service) === 0; tries += 1) {
    if (tries > 100) throw new Error('no job was measured within 20 s');
    await new Promise((resolve) => { setTimeout(resolve, 200); });
  }
}
