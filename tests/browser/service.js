// A service with a generated history, over HTTP.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

// CTest says where it is.
const { TORCHWATCH_BIN: bin } = process.env;

export const program = (name) => path.join(bin, name);

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
    /** The same at the same address, after stop(); `change` goes into its configuration. */
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
