// docs/worker-protocol.schema.json describes the messages that runner/protocol.cpp writes and reads.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';

// CTest sets these variables.
const { TORCHWATCH_NODE: node, TORCHWATCH_MESSAGES: program, TORCHWATCH_DOCS: docs } = process.env;
const { default: Ajv } = createRequire(path.join(node, 'package.json'))('ajv/dist/2020');

const schema = JSON.parse(readFileSync(path.join(docs, 'worker-protocol.schema.json'), 'utf8'));
const linesOf = (text) => text.trim().split('\n');
const messages = linesOf(execFileSync(program, { encoding: 'utf8' })).map((line) => JSON.parse(line));

/** Returns what the parser of runner/protocol.cpp prints on each message: "ok", or the reason. */
const decoded = (all) => linesOf(execFileSync(program, ['--decode'],
  { encoding: 'utf8', input: all.map((message) => `${JSON.stringify(message)}\n`).join('') }));

function validatorOf(document, type) {
  const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false });
  return ajv.compile({ ...document, oneOf: undefined, $ref: `#/$defs/${type}` });
}

const validators = new Map();

/** Returns the faults of a message by the definition of its type. */
function faultsOf(message, document = schema) {
  const key = `${document === schema} ${message.type}`;
  if (!validators.has(key)) validators.set(key, validatorOf(document, message.type));
  const validate = validators.get(key);
  return validate(message) ? [] : validate.errors.map(({ instancePath, message: text, params }) => `${instancePath} ${text} ${JSON.stringify(params)}`);
}

/** Returns a copy of a part of the schema that allows no other fields. */
function strict(part, name = '') {
  if (Array.isArray(part)) return part.map((one) => strict(one));
  if (typeof part !== 'object' || part === null) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, strict(value, key)]));
  const hasFields = part.properties !== undefined && part.$ref === undefined && name !== 'job_fields';
  const isJob = part.$ref === '#/$defs/job_fields';
  return (hasFields && part.$defs === undefined) || isJob ? { ...copy, unevaluatedProperties: false } : copy;
}

/** Returns the paths to all values of a message, as lists of keys. */
function pathsIn(value, at = []) {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([key, one]) => pathsIn(one, [...at, key]))];
}

const valueAt = (message, keys) => keys.reduce((part, key) => part[key], message);

function replaced(message, keys, value) {
  const copy = structuredClone(message);
  valueAt(copy, keys.slice(0, -1))[keys.at(-1)] = value;
  return copy;
}

const kindOf = (value) => (Array.isArray(value) ? 'array' : typeof value);

/** Returns the messages with one value replaced by one of another type, except below the fields `kept`. */
function wrongTypes(kept) {
  const changesOf = (message, keys) => [[], {}, 'x', 1.5, true].filter((value) => kindOf(value) !== kindOf(valueAt(message, keys)))
    .map((value) => ({ keys, message: replaced(message, keys, value) }));
  return messages.flatMap((message) => pathsIn(message).filter((keys) => keys.length > 0 && !kept.includes(keys[0]))
    .flatMap((keys) => changesOf(message, keys)));
}

test('every message that the serializer writes is valid, and has no field that the schema lacks', () => {
  const exact = strict(schema);
  for (const message of messages) {
    assert.deepEqual(faultsOf(message), [], JSON.stringify(message));
    assert.deepEqual(faultsOf(message, exact), [], JSON.stringify(message));
  }
});

test('the whole schema is valid, and accepts a message as exactly one kind', () => {
  const validate = new Ajv({ strict: true, strictRequired: false, strictTypes: false }).compile(schema);
  for (const message of messages) assert.ok(validate(message), JSON.stringify(validate.errors));
  assert.ok(!validate({ type: 'greeting' }));
  assert.ok(!validate({ type: 'ready' }));
});

test('the serializer writes every field of the schema', () => {
  for (const type of schema.properties.type.enum) {
    const fields = Object.keys({ ...schema.$defs[type].properties, ...(type === 'job' ? schema.$defs.job_fields.properties : {}) });
    const written = new Set(messages.filter((message) => message.type === type).flatMap((message) => Object.keys(message)));
    assert.deepEqual(fields.filter((field) => !written.has(field)), [], type);
  }
});

test('a field of another type is rejected by the schema where the parser rejects it', () => {
  const wrong = wrongTypes(['type']);
  const answers = decoded(wrong.map(({ message }) => message));
  assert.equal(answers.length, wrong.length);
  assert.ok(answers.filter((answer) => answer !== 'ok').length > 500);
  for (const [place, { keys, message }] of wrong.entries()) {
    if (answers[place] === 'ok') continue;
    assert.notDeepEqual(faultsOf(message), [], `${keys.join('.')}: ${answers[place]}`);
  }
});

test('the schema rejects no message that the parser accepts, but for an odd role, version or fingerprint', () => {
  const wrong = wrongTypes(['type', 'role', 'protocol', 'fingerprint']);
  const answers = decoded(wrong.map(({ message }) => message));
  for (const [place, { keys, message }] of wrong.entries())
    if (answers[place] === 'ok') assert.deepEqual(faultsOf(message), [], keys.join('.'));
});

test('the session of the page consists of valid messages in a valid order', () => {
  const page = readFileSync(path.join(docs, 'worker-protocol.md'), 'utf8');
  const session = /```text\n(worker: [^]*?)```/.exec(page)[1];
  const steps = session.trim().split(/\n(?=worker: |runner: )/).map((step) => [step.slice(0, 6), JSON.parse(step.slice(8))]);
  const own = { hello: 'worker', ready: 'worker', progress: 'worker', result: 'worker', error: 'worker', job: 'runner', turn: 'runner' };
  for (const [from, message] of steps) {
    assert.deepEqual(faultsOf(message), [], JSON.stringify(message));
    assert.equal(own[message.type], from);
  }
  assert.deepEqual(decoded(steps.map(([, message]) => message)), steps.map(() => 'ok'));
  const types = steps.map(([, { type }]) => type).filter((type) => type !== 'progress');
  const { runs } = steps[1][1].measure;
  assert.deepEqual(types, ['hello', 'job', ...Array(runs + 2).fill(['ready', 'turn']).flat(), 'result']);
});
