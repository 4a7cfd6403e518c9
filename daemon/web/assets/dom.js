// Builds elements. No function takes HTML, so text from the service is never parsed as HTML.

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

/** Builds an HTML element. An attribute that is a function becomes the listener for the event of that name. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Builds an SVG element. Attributes and children are as in `h`. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

/** The width of a figure in px: `widest`, or less where the page is narrower, such as on a phone. */
export function figureWidth(widest) {
  return Math.min(widest, document.getElementById('main').clientWidth - 32);
}

/** Text from outside: shown unchanged, in its own writing direction. Long text scrolls in a box. */
export function untrusted(text) {
  return h('span', { class: text.length > 400 ? 'untrusted clipped' : 'untrusted', dir: 'auto', tabindex: text.length > 400 ? '0' : null }, text);
}

/** Shows the result of an action until another page is shown. */
export function notice(text, kind) {
  document.getElementById('notice').replaceChildren(h('span', { class: kind }, text));
}

/** Reads `text` aloud in a screen reader. */
export function announce(text) {
  document.getElementById('announcer').textContent = text;
}
