// Reads openapi.json, and compares requests and responses with it.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// CTest sets these variables.
const { TORCHWATCH_NODE: node, TORCHWATCH_DESCRIPTION: file } = process.env;
const require = createRequire(path.join(node, 'package.json'));
const { default: Ajv } = require('ajv/dist/2020');
const { default: addFormats } = require('ajv-formats');

export const document = JSON.parse(readFileSync(file, 'utf8'));

/** Returns the errors of the document; none if it is valid. */
export async function errorsOfDocument() {
  const { Validator } = await import(pathToFileURL(require.resolve('@seriousme/openapi-schema-validator')));
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  return valid ? [] : errors;
}

const ajv = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false });
addFormats(ajv);
ajv.addVocabulary(Object.keys(document)); // the document is not a schema, but contains schemas
ajv.addSchema(document, 'openapi.json', false, false);

/** Encodes a name as a step of a JSON pointer in a URI. */
const step = (name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
const at = (pointer) => pointer.split('/').slice(1)
  .reduce((part, name) => part[decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')], document);

/** Returns the pointer to a part of the document, after its $ref. */
function resolved(pointer) {
  const reference = at(pointer).$ref;
  return reference === undefined ? pointer : reference.slice(1);
}

const validators = new Map();
function validatorOf(pointer) {
  if (!validators.has(pointer)) validators.set(pointer, ajv.compile({ $ref: `openapi.json#${pointer}` }));
  return validators.get(pointer);
}

/** Returns the faults of `value` by the schema at `pointer`. */
export function faultsOf(pointer, value) {
  const validate = validatorOf(pointer);
  if (validate(value)) return [];
  return validate.errors.slice(0, 5).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
}

/** Compiles each schema of the components. */
export function compileAll() {
  for (const name of Object.keys(document.components.schemas)) validatorOf(`/components/schemas/${name}`);
}

export const parametersOf = (operation) => (operation.parameters ?? []).map((one) => (one.$ref ? at(one.$ref.slice(1)) : one));
export const schemaOf = (schema) => (schema.$ref ? { ...at(schema.$ref.slice(1)), ...schema, $ref: undefined, $name: schema.$ref.split('/').at(-1) } : schema);

/** All operations: {template, method, operation}. */
export const operations = Object.entries(document.paths).flatMap(([template, item]) =>
  Object.entries(item).map(([method, operation]) => ({ template, method, operation })));

/** Returns the path of the document that matches a target; undefined without one. */
export function templateOf(target) {
  const origin = /^https?:\/\/[^/]*/;
  const address = (origin.test(target) ? target.replace(origin, '') || '/' : target).split('?')[0];
  if (!/^\/(?:[^%]|%[0-9a-fA-F]{2})*$/.test(address)) return undefined;
  const segments = address.slice(1).split('/').map((one) => unescape(one));
  const leads = (template) => {
    const pattern = template.slice(1).split('/');
    return pattern.length === segments.length && pattern.every((word, place) => word === segments[place] || word === '{id}');
  };
  return Object.keys(document.paths).find(leads);
}

/** Responses to any request, before the server looks for its route. */
const beforeRouting = ['BadRequest', 'TooLarge', 'Misdirected', 'HeaderTooLarge', 'Failed', 'NotImplemented', 'Unavailable'];
const statuses = { BadRequest: 400, NotFound: 404, MethodNotAllowed: 405, TooLarge: 413, Misdirected: 421, HeaderTooLarge: 431, Failed: 500,
  NotImplemented: 501, Unavailable: 503, Options: 204 };

/** Returns the pointer to the response with this status; undefined if none is described. */
function responseTo({ method, target, status }) {
  const template = templateOf(target);
  const item = document.paths[template];
  const described = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (described && method === method.toUpperCase())
    return described.responses[status] && resolved(`/paths/${step(template)}/${method === 'HEAD' ? 'get' : method.toLowerCase()}/responses/${status}`);
  const special = item === undefined ? 'NotFound' : method === 'OPTIONS' ? 'Options' : 'MethodNotAllowed';
  const name = [special, ...beforeRouting].find((one) => statuses[one] === status);
  return name && `/components/responses/${name}`;
}

const checkedHeaders = ['etag', 'link', 'location', 'allow', 'www-authenticate', 'retry-after'];

function faultsOfHeaders(pointer, response, headers) {
  const faults = [];
  const described = Object.keys(response.headers ?? {});
  for (const name of described) {
    const where = resolved(`${pointer}/headers/${step(name)}`);
    const value = headers[name.toLowerCase()];
    if (value === undefined && at(where).required) faults.push(`${name} is missing`);
    if (value !== undefined) faults.push(...faultsOf(`${where}/schema`, value).map((fault) => `${name}: ${value}${fault}`));
  }
  for (const name of checkedHeaders)
    if (headers[name] !== undefined && !described.some((one) => one.toLowerCase() === name)) faults.push(`${name} is not described`);
  return faults;
}

function faultsOfBody(pointer, response, { method, headers, body }) {
  const type = headers['content-type'];
  if (response.content === undefined) return type === undefined && body === '' ? [] : ['it has a body'];
  if (response.content[type] === undefined) return [`its content-type is ${type}, described are ${Object.keys(response.content).join(', ')}`];
  if (method === 'HEAD') return body === '' ? [] : ['it has a body'];
  let value = body;
  if (type.endsWith('json')) {
    try {
      value = JSON.parse(body);
    } catch (error) {
      return [error.message];
    }
  }
  return faultsOf(`${pointer}/content/${step(type)}/schema`, value);
}

/** Returns the faults of an exchange, {method, target, status, headers, body}. */
export function faultsOfExchange(exchange) {
  const pointer = responseTo(exchange);
  if (pointer === undefined) return ['no such status is described'];
  const response = at(pointer);
  return [...faultsOfHeaders(pointer, response, exchange.headers), ...faultsOfBody(pointer, response, exchange)];
}

/** True if the schema at `pointer` allows a text in a query. */
function isValue(pointer, text) {
  const schema = schemaOf(at(pointer));
  if (schema.type !== 'integer') return faultsOf(pointer, text).length === 0;
  return /^-?[0-9]+$/.test(text) && faultsOf(pointer, Number(text)).length === 0;
}

/** True if the document allows these parameters, [name, text] each. */
export function allowsQuery({ template, method, operation }, query) {
  const known = new Map();
  (operation.parameters ?? []).forEach((_, place) => {
    const pointer = resolved(`/paths/${step(template)}/${method}/parameters/${place}`);
    if (at(pointer).in === 'query') known.set(at(pointer).name, pointer);
  });
  if (new Set(query.map(([name]) => name)).size < query.length) return false;
  if (known.has('any')) return true;
  for (const [name, pointer] of known) if (at(pointer).required && !query.some(([given]) => given === name)) return false;
  return query.every(([name, text]) => known.has(name) && isValue(`${known.get(name)}/schema`, text));
}

/** True if the document allows this body, as text. */
export function allowsBody({ template, method }, text) {
  try {
    return faultsOf(`/paths/${step(template)}/${method}/requestBody/content/${step('application/json')}/schema`, JSON.parse(text)).length === 0;
  } catch {
    return false;
  }
}
