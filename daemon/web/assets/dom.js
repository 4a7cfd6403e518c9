// Builds elements. Text is always text: nothing here takes HTML, so nothing that the service tells can become any.

const svgSpace = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element: attributes that are functions listen to the event of that name. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same of SVG. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

/** Text that strangers wrote: shown as it is, in its own direction, and no longer than a box. */
export function untrusted(text) {
  return h('span', { class: text.length > 400 ? 'untrusted clipped' : 'untrusted', dir: 'auto', tabindex: text.length > 400 ? '0' : null }, text);
}

/** Says what came of something that a person did, until another page is shown. */
export function notice(text, kind) {
  document.getElementById('notice').replaceChildren(h('span', { class: kind }, text));
}

/** Tells those who hear the page what has happened. */
export function announce(text) {
  document.getElementById('announcer').textContent = text;
}
