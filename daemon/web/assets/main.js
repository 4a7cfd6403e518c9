// Finds the page for the address, shows it, and shows it again when something has changed. Addresses are changed without
// loading a new document, so that a token that was given is still there on the next page.

import { Problem, health, useTokensFrom } from './api.js';
import { ask } from './dialog.js';
import { announce, h, notice } from './dom.js';
import { listen } from './events.js';
import { plural } from './format.js';

// That of the address is loaded first.
const pages = [
  [/^\/$/, 'Tonight', () => import('./tonight.js')],
  [/^\/nightlies$/, 'Nightlies', () => import('./nightlies.js')],
  [/^\/nightlies\/(\d+)$/, 'Nightly', () => import('./nightly.js')],
  [/^\/series$/, 'Series', () => import('./series.js')],
  [/^\/incidents$/, 'Incidents', () => import('./incidents.js')],
  [/^\/incidents\/(\d+)$/, 'Incident', () => import('./incident.js')],
  [/^\/bisections$/, 'Bisections', () => import('./bisections.js')],
  [/^\/bisections\/(\d+)$/, 'Bisection', () => import('./bisection.js')],
  [/^\/compare$/, 'Compare', () => import('./compare.js')],
  [/^\/trust$/, 'Trust', () => import('./trust.js')],
  [/^\/alarms$/, 'Alarms', () => import('./alarms.js')],
];
const betweenLooks = 2000; // while much is written
const betweenHealthLooks = 15000;

const main = document.getElementById('main');
const service = document.getElementById('service');
let visit = new AbortController();
let refresh = null; // of the page that is shown
let lineIsOpen = true;

function errorPanel(failure) {
  const isProblem = failure instanceof Problem;
  if (!isProblem) console.error(failure);
  return h('div', { class: 'panel alert', role: 'alert' },
    h('h2', null, isProblem ? failure.title : 'This page has failed'),
    h('p', null, failure.message),
    isProblem && failure.errors ? h('ul', null, failure.errors.map((error) => h('li', null, `${error.field}: ${error.detail}`))) : null,
    h('div', { class: 'actions' }, h('button', { type: 'button', click: () => show() }, 'Try again')));
}

function markNavigation(path) {
  for (const link of document.querySelectorAll('nav a')) {
    const to = link.getAttribute('href');
    const isHere = to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`);
    if (isHere) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

/** A page that does not come is the service's trouble, as is an answer that does not come. */
function loaded(load) {
  return load().catch((failure) => {
    if (failure instanceof TypeError) throw new Problem(0, 'The service does not answer', 'It may be restarting, or the network is down.');
    throw failure;
  });
}

/** Shows the page of the address. */
async function show() {
  visit.abort();
  visit = new AbortController();
  refresh = null;
  const { signal } = visit;
  const path = window.location.pathname;
  markNavigation(path);
  const found = pages.find(([pattern]) => pattern.test(path));
  if (!found) {
    main.replaceChildren(h('h1', null, 'Nothing is here'), h('p', null, h('a', { href: '/' }, 'Back to tonight')));
    return;
  }
  const [pattern, title, load] = found;
  document.title = `${title} · torchwatch`;
  const place = {
    id: pattern.exec(path)[1],
    query: new URLSearchParams(window.location.search),
    signal,
    /** Replaces what is shown, unless another page is shown meanwhile. */
    show(...elements) {
      if (signal.aborted) return;
      main.replaceChildren(...elements.flat(Infinity).filter(Boolean));
      main.dataset.shown = path; // and no longer what stood there before any script ran
    },
    title(text) {
      if (!signal.aborted) document.title = `${text} · torchwatch`;
    },
    /** Makes the address lead to exactly this view. */
    remember(query) {
      const text = query.toString();
      window.history.replaceState(null, '', text ? `${path}?${text}` : path);
    },
    go,
    /** Shows the page anew, with what the service says now. */
    again: () => refreshNow(),
  };
  try {
    const page = await loaded(load);
    await page.show(place);
    refresh = page.refresh ? () => page.refresh(place) : () => page.show(place);
  } catch (failure) {
    if (failure.name !== 'AbortError') place.show(errorPanel(failure));
  }
}

function go(address) {
  notice('');
  window.history.pushState(null, '', address);
  show().then(() => {
    main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    announce(document.title);
  });
}

function isOurs(link) {
  return link.origin === window.location.origin && !link.hasAttribute('download') && !link.target &&
    !link.pathname.startsWith('/api/') && pages.some(([pattern]) => pattern.test(link.pathname));
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented || !isOurs(link) || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
window.addEventListener('popstate', () => show());

// What is typed into, or open, is left alone.
function isBusy() {
  const focused = document.activeElement;
  return Boolean(document.querySelector('dialog[open]')) || (focused && ['INPUT', 'SELECT', 'TEXTAREA'].includes(focused.tagName));
}

/** The id, or the place among its like, of what has the focus, so that a page that is drawn anew gives it back. */
function focusedPlace() {
  const focused = document.activeElement;
  if (!focused || !main.contains(focused) || focused === main) return null;
  const all = [...main.querySelectorAll('a[href], button, summary, [tabindex="0"]')];
  return all.indexOf(focused);
}

async function refreshNow() {
  if (!refresh) return;
  const place = focusedPlace();
  const open = [...main.querySelectorAll('details')].map((details) => details.open);
  try {
    await refresh();
  } catch (failure) {
    if (failure.name !== 'AbortError' && failure.status !== 0) main.replaceChildren(errorPanel(failure));
    return;
  }
  main.querySelectorAll('details').forEach((details, index) => { if (open[index] !== undefined) details.open = open[index]; });
  if (place !== null && !main.contains(document.activeElement))
    main.querySelectorAll('a[href], button, summary, [tabindex="0"]')[place]?.focus({ preventScroll: true });
}

let waiting = null;
let lastLook = 0;
function somethingChanged() {
  if (waiting || document.hidden) return;
  const pause = Math.max(0, lastLook + betweenLooks - Date.now());
  waiting = setTimeout(async () => {
    waiting = null;
    lastLook = Date.now();
    if (isBusy()) setTimeout(somethingChanged, betweenLooks);
    else await refreshNow();
  }, pause);
}

async function showHealth() {
  try {
    const vitals = await health();
    const isWell = vitals.status === 'ok';
    service.replaceChildren(h('span', { class: isWell ? 'good' : 'bad', title: (vitals.troubles ?? []).join('\n') },
      isWell ? 'Service is well' : plural(vitals.troubles.length, 'trouble')),
    lineIsOpen ? '' : h('span', { class: 'warn' }, 'not live'));
  } catch {
    service.replaceChildren(h('span', { class: 'bad' }, 'Service does not answer'));
  }
}

useTokensFrom(async (reason) => {
  const given = await ask('Token', reason, [{ name: 'token', label: 'Token', type: 'password', hint: 'It is kept in memory alone, until you leave this page.' }], 'Go on');
  return given?.token ?? '';
});

function listenToEvents() {
  const line = new AbortController();
  const heard = () => { showHealth(); somethingChanged(); };
  listen(heard, (state) => {
    const wasOpen = lineIsOpen;
    lineIsOpen = state === 'open';
    if (lineIsOpen && !wasOpen) somethingChanged();
    showHealth();
  }, line.signal);
  return line;
}

// A page that nobody looks at holds no line open.
let line = listenToEvents();
document.addEventListener('visibilitychange', () => {
  line.abort();
  if (document.hidden) return;
  line = listenToEvents();
  somethingChanged();
});
window.addEventListener('pagehide', () => line.abort());

setInterval(() => { if (!document.hidden) showHealth(); }, betweenHealthLooks);
showHealth();
// The others come once the first is there, so that the next click waits for nothing but figures.
show().then(() => pages.forEach(([, , load]) => load().catch(() => {})));
