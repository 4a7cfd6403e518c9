// The page of one bisection.

import { h } from './dom.js';
import { bisectionBody } from './bisectionbody.js';

export async function show(place) {
  place.title(`Bisection ${place.id}`);
  const body = await bisectionBody(place.id, place);
  place.show(h('h1', null, `Bisection ${place.id}`), body, h('p', null, h('a', { href: '/bisections' }, 'All bisections')));
}
