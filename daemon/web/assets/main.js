// Shows the page of the address, and refreshes it when the service reports an event. Links between pages do not load a new
// document, so the token stays in memory.

import { Problem, health, received, useTokensFrom } from './api.js';
import { ask } from './dialog.js';
import { announce, h, notice } from './dom.js';
import { listen } from './events.js';
import { plural } from './format.js';
import { keepOrders } from './table.js';

// The module of the current page is loaded first, the others after it.
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
const betweenRefreshes = 2000; // ms, at least
const betweenHealthChecks = 15000; // ms

/** The user presses an element that a refresh would replace. The click would be lost. */
class Pressed extends Error {}

const main = document.getElementById('main');
const service = document.getElementById('service');
let visit = new AbortController();
let refresh = null; // refreshes the current page
let lineIsOpen = true;

function errorPanel(failure) {
  const isProblem = failure instanceof Problem;
  if (!isProblem) console.error(failure);
  return h('div', { class: 'panel alert', role: 'alert' },
    h('h2', null, isProblem ? failure.title : 'Error in this page'),
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
    main.replaceChildren(h('h1', null, 'Page not found'), h('p', null, h('a', { href: '/' }, 'Back to Tonight')));
    return;
  }
  const [pattern, title, load] = found;
  document.title = `${title} · torchwatch`;
  let view = null; // what the user saw before the last change of a refresh
  const place = {
    id: pattern.exec(path)[1],
    query: new URLSearchParams(window.location.search),
    signal,
    /** Replaces the content of the page, unless the user has left it meanwhile. */
    show(...elements) {
      place.change(() => main.replaceChildren(...elements.flat(Infinity).filter(Boolean)));
      if (!signal.aborted) main.dataset.shown = path; // the content is no longer what the service sent without scripts
    },
    /**
     * Calls `draw`, which replaces elements of the page. A refresh keeps what the user has sorted and opened until now, and
     * throws Pressed.
     */
    change(draw) {
      if (signal.aborted) return;
      if (refresh && main.matches(':active')) throw new Pressed();
      view = refresh && keepView();
      draw();
      view?.restore();
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
    /** Refreshes the page with current data. */
    again: () => refreshNow(),
  };
  try {
    const page = await received(load());
    await page.show(place);
    refresh = async () => {
      view = null;
      await (page.refresh ?? page.show)(place);
      view?.restore();
      view?.focus();
    };
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

function hasSelectedText() {
  const selection = window.getSelection();
  return selection.type === 'Range' && main.contains(selection.anchorNode);
}

// True while the user types or selects text, such as a commit to copy, or a dialog is open: the page is not refreshed then.
function isBusy() {
  const focused = document.activeElement;
  return Boolean(document.querySelector('dialog[open]')) || (focused && ['INPUT', 'SELECT', 'TEXTAREA'].includes(focused.tagName)) || hasSelectedText();
}

// What can have the focus.
const focusable = 'a[href], button, summary, [tabindex="0"]';

/** The position of the focused element among the focusable ones. Null: none in the page. */
function focusedPlace() {
  const focused = document.activeElement;
  if (!focused || !main.contains(focused) || focused === main) return null;
  return [...main.querySelectorAll(focusable)].indexOf(focused);
}

/**
 * Remembers the orders of tables, the open details and the focus. restore() gives the first two to what is drawn since, and once
 * more to what is drawn later. focus() is for the end, because it counts all elements.
 */
function keepView() {
  const restoreOrders = keepOrders(main);
  const allDetails = () => [...main.querySelectorAll('details')];
  const open = allDetails().map((details) => details.open);
  const focused = focusedPlace();
  return {
    restore() {
      restoreOrders();
      allDetails().forEach((details, index) => {
        details.open = open[index] ?? details.open;
        delete open[index];
      });
    },
    focus() {
      if (focused !== null && !main.contains(document.activeElement)) main.querySelectorAll(focusable)[focused]?.focus({ preventScroll: true });
    },
  };
}

async function refreshNow() {
  try {
    await refresh?.();
  } catch (failure) {
    if (failure instanceof Pressed) somethingChanged();
    else if (failure.name !== 'AbortError' && failure.status !== 0) main.replaceChildren(errorPanel(failure));
  }
}

let waiting = null;
let lastRefresh = 0;
function somethingChanged() {
  if (waiting || document.hidden) return;
  const pause = Math.max(0, lastRefresh + betweenRefreshes - Date.now());
  waiting = setTimeout(async () => {
    waiting = null;
    lastRefresh = Date.now();
    if (isBusy()) setTimeout(somethingChanged, betweenRefreshes);
    else await refreshNow();
  }, pause);
}

async function showHealth() {
  try {
    const vitals = await health();
    const isWell = vitals.status === 'ok';
    service.replaceChildren(h('span', { class: isWell ? 'good' : 'bad', title: (vitals.troubles ?? []).join('\n') },
      isWell ? 'Service is healthy' : plural(vitals.troubles.length, 'problem')),
    lineIsOpen ? '' : h('span', { class: 'warn' }, 'no live updates'));
  } catch {
    service.replaceChildren(h('span', { class: 'bad' }, 'Service does not respond'));
  }
}

useTokensFrom(async (reason) => {
  const given = await ask('Token', reason, [{ name: 'token', label: 'Token', type: 'password', hint: 'It stays in memory until you leave this page.' }], 'Continue');
  return given?.token ?? '';
});

function listenToEvents() {
  const line = new AbortController();
  const onEvent = () => { showHealth(); somethingChanged(); };
  listen(onEvent, (state) => {
    const wasOpen = lineIsOpen;
    lineIsOpen = state === 'open';
    if (lineIsOpen && !wasOpen) somethingChanged();
    showHealth();
  }, line.signal);
  return line;
}

// A hidden page closes its connection.
let line = listenToEvents();
document.addEventListener('visibilitychange', () => {
  line.abort();
  if (document.hidden) return;
  line = listenToEvents();
  somethingChanged();
});
window.addEventListener('pagehide', () => line.abort());

setInterval(() => { if (!document.hidden) showHealth(); }, betweenHealthChecks);
showHealth();
// The other pages are loaded after the first, so that the next click waits only for data.
show().then(() => pages.forEach(([, , load]) => load().catch(() => {})));
