// Sends requests to the service. The token stays in this module's memory and is lost when the page closes.

/** An error response of the service (RFC 9457), or a failed connection: status 0. */
export class Problem extends Error {
  constructor(status, title, detail, errors = []) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.errors = errors;
  }
}

let token = '';
let askForToken = async () => '';
const tokenFollowers = new Set();
const known = new Map(); // path → {etag, data}, most recently stored last
const mostKnown = 40;

/** Sets the function that asks the user for a token. `ask` gets the reason, and returns the token, or '' when the user cancels. */
export function useTokensFrom(ask) {
  askForToken = ask;
}

/** Calls `follow` with the token now, and with each new token until `signal` aborts. */
export function followToken(follow, signal) {
  tokenFollowers.add(follow);
  signal.addEventListener('abort', () => tokenFollowers.delete(follow));
  follow(token);
}

function use(given) {
  token = given;
  tokenFollowers.forEach((follow) => follow(token));
}

/** Waits for `transfer`, such as a request, a response's body or a module. A failed connection (TypeError) becomes a Problem. */
export async function received(transfer) {
  try {
    return await transfer;
  } catch (failure) {
    if (!(failure instanceof TypeError)) throw failure;
    throw new Problem(0, 'The service does not respond', 'Check that torchwatch serve is running and that the network is up.');
  }
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  return new Problem(response.status, body.title ?? response.statusText, body.detail ?? '', body.errors);
}

async function call(path, options) {
  const headers = { ...options.headers };
  if (token) headers.authorization = `Bearer ${token}`;
  return received(fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit' }));
}

/** Sends a request. While the response is 401, asks the user for a token and retries; stops when the user cancels. */
async function withToken(path, options) {
  let response = await call(path, options);
  while (response.status === 401) {
    const isRejected = token !== '';
    token = '';
    const given = await askForToken(isRejected ? 'The service rejected this token.' : 'This service requires a token for reading.');
    if (!given) break;
    use(given);
    response = await call(path, options);
  }
  return response;
}

function remember(path, etag, data) {
  known.delete(path);
  known.set(path, { etag, data });
  if (known.size > mostKnown) known.delete(known.keys().next().value);
}

/** Returns the JSON at `path`. While it is unchanged, each call returns the same object. */
export async function read(path, signal) {
  const before = known.get(path);
  const headers = before ? { 'if-none-match': before.etag } : {};
  const response = await withToken(path, { headers, signal });
  if (response.status === 304) return before.data;
  if (!response.ok) throw await problemOf(response);
  const data = await received(response.json());
  const etag = response.headers.get('etag');
  if (etag) remember(path, etag, data);
  return data;
}

/** Returns all items of a list that the API serves in pages. */
export async function readAll(path, signal) {
  const items = [];
  const limit = 500;
  const separator = path.includes('?') ? '&' : '?';
  for (let offset = 0; ; offset += limit) {
    const page = await read(`${path}${separator}limit=${limit}&offset=${offset}`, signal);
    items.push(...page.items);
    if (items.length >= page.total || page.items.length === 0) return items;
  }
}

/** Returns the body of /healthz, also when its status is 503. */
export async function health(signal) {
  const response = await call('/healthz', { signal });
  return received(response.json());
}

/** Posts `body` and returns the response. Asks the user for a token first if there is none. */
export async function send(path, body) {
  if (!token) {
    use((await askForToken('Changes require the token in the file that http.token_file names.')) || '');
    if (!token) throw new Problem(401, 'No token', 'Nothing was changed.');
  }
  const response = await withToken(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw await problemOf(response);
  return received(response.json());
}
