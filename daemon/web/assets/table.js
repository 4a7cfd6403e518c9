// Tables that the user can sort, by mouse and by keyboard.

import { read } from './api.js';
import { h, announce } from './dom.js';

const shownAtFirst = 200;

function compareValues(one, other) {
  if (one === other) return 0;
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}

/**
 * Builds a table. `columns`: {title, cell(row) → text or element, value(row): sort key, number: right-aligned, descending: order
 * of the first click, narrowHidden: hidden on phones}. `options`: {caption, empty: shown without rows, sort: index, descending,
 * onSort(index, descending), most: rows shown at first}.
 */
export function table(columns, rows, options = {}) {
  let sorted = options.sort ?? -1;
  let descending = options.descending ?? false;
  let most = options.most ?? shownAtFirst;
  const body = h('tbody');
  const more = h('p');
  const heads = columns.map((column, index) => {
    const title = column.value
      ? h('button', { type: 'button', click: () => sortBy(index) }, column.title)
      : column.title;
    return h('th', { scope: 'col', class: classOf(column) }, title);
  });

  function classOf(column) {
    return [column.number ? 'number' : '', column.narrowHidden ? 'narrow-hidden' : ''].join(' ').trim() || null;
  }

  function sortBy(index) {
    descending = index === sorted ? !descending : Boolean(columns[index].descending);
    sorted = index;
    options.onSort?.(sorted, descending);
    draw();
    announce(`Sorted by ${columns[index].title}, ${descending ? 'descending' : 'ascending'}`);
  }

  function inOrder() {
    if (sorted < 0) return rows;
    const { value } = columns[sorted];
    const sign = descending ? -1 : 1;
    return rows
      .map((row) => [value(row), row])
      .sort(([one], [other]) => {
        const absent = (one === null || one === undefined) || (other === null || other === undefined);
        return absent ? compareValues(one, other) : sign * compareValues(one, other);
      })
      .map(([, row]) => row);
  }

  function draw() {
    heads.forEach((head, index) => {
      if (index === sorted) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else head.removeAttribute('aria-sort');
    });
    const shown = inOrder().slice(0, most);
    body.replaceChildren(...shown.map((row) =>
      h('tr', null, columns.map((column) => h('td', { class: classOf(column) }, column.cell(row))))));
    more.replaceChildren();
    if (rows.length > most) {
      more.append(h('button', { type: 'button', click: () => { most = rows.length; draw(); } }, `Show all ${rows.length} rows`));
    }
  }

  draw();
  const caption = options.caption ? h('caption', null, options.caption) : null;
  if (rows.length === 0 && options.empty) return h('p', { class: 'quiet' }, options.empty);
  return h('div', null,
    h('div', { class: 'scroll', role: 'region', 'aria-label': options.caption ?? 'Table', tabindex: '0' },
      h('table', null, caption, h('thead', null, h('tr', null, heads)), body)),
    more);
}

const pageSize = 100;

/** A table of a paged list, newest first. A button loads older items. */
export async function listTable(path, columns, place, options) {
  const first = await read(`${path}?limit=${pageSize}`, place.signal);
  const items = [...first.items];
  const box = h('div');
  const draw = () => {
    const left = first.total - items.length;
    box.replaceChildren(table(columns, items, options));
    if (left > 0) box.append(h('p', null, h('button', { type: 'button', click: more }, `Show older ones (${left} more)`)));
  };
  const more = async () => {
    const next = await read(`${path}?limit=${pageSize}&offset=${items.length}`, place.signal);
    items.push(...next.items);
    draw();
    announce(`${items.length} of ${first.total} rows`);
  };
  draw();
  return box;
}

/** A list of names and values. */
export function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter(Boolean).map(([name, value]) => [h('dt', null, name), h('dd', null, value)]));
}
