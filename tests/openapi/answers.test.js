// openapi.json is an OpenAPI document and describes all responses that the tests of the API get.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { program } from '../browser/service.js';
import { compileAll, errorsOfDocument, faultsOfExchange, operations, templateOf } from './description.js';

/** Has a response without an end. Only the fuzzer requests it. */
const endless = 'GET /api/v1/events';

function answersOfTests() {
  const folder = mkdtempSync(path.join(tmpdir(), 'torchwatch-answers-'));
  try {
    // Leaves out tests with other servers than the API.
    execFileSync(program('api_test'), ['--gtest_filter=-Http*:ConnectionLimits*', '--gtest_brief=1'], { env: { ...process.env, TORCHWATCH_ANSWERS: folder }, stdio: 'pipe' });
    return readdirSync(folder).flatMap((name) => readFileSync(path.join(folder, name), 'utf8').trim().split('\n').map((line) => JSON.parse(line)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('openapi.json is a valid OpenAPI document with valid schemas', async () => {
  assert.deepEqual(await errorsOfDocument(), []);
  compileAll();
});

test('faultsOfExchange finds each difference from the description', () => {
  const etag = 'W/"0123456789abcdef0123456789abcdef"';
  const alarms = { method: 'GET', target: '/api/v1/alarms', status: 200, headers: { 'content-type': 'application/json', etag }, body: '{"total":0,"limit":1,"offset":0,"items":[]}' };
  const wrong = {
    route: { target: '/api/v2/alarms' }, method: { method: 'PUT' }, status: { status: 206 }, type: { headers: { 'content-type': 'text/html', etag } },
    'missing header': { headers: { 'content-type': 'application/json' } }, 'odd header': { headers: { ...alarms.headers, location: '/' } },
    'missing field': { body: '{"total":0,"limit":1,"offset":0}' }, 'odd field': { body: '{"total":0,"limit":1,"offset":0,"items":[],"x":1}' },
    item: { body: '{"total":0,"limit":1,"offset":0,"items":[{}]}' }, json: { body: '' }, 'body of HEAD': { method: 'HEAD' },
  };
  assert.deepEqual(faultsOfExchange(alarms), []);
  for (const [what, change] of Object.entries(wrong)) assert.notDeepEqual(faultsOfExchange({ ...alarms, ...change }), [], what);
});

test('responses to the tests of the API are as described', (t) => {
  const answers = answersOfTests();
  const wrong = answers.flatMap((answer) => faultsOfExchange(answer)
    .map((fault) => `${answer.method} ${answer.target.slice(0, 200)} ${answer.status}: ${fault}\n${answer.body.slice(0, 400)}`));
  assert.deepEqual(wrong.slice(0, 10), []);
  const good = new Set(answers.filter(({ status }) => status < 300).map(({ method, target }) => `${method} ${templateOf(target)}`));
  const unseen = operations.map(({ method, template }) => `${method.toUpperCase()} ${template}`).filter((one) => !good.has(one) && one !== endless);
  t.diagnostic(`${answers.length} answers`);
  assert.deepEqual(unseen, [], 'no successful response from these');
});
