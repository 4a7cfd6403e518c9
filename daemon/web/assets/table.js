// Tables that the user can sort, by mouse and by keyboard.

import { read } from './api.js';
import { h, announce } from './dom.js';

const shownAtFirst = 200;
const orders = new WeakMap(); // a <table> → {titles, read(), restore(order)}

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
  const body = h('tbody', { role: 'rowgroup' });
  const more = h('p');
  const heads = columns.map((column, index) => {
    const title = column.value
      ? h('button', { type: 'button', click: () => sortBy(index) }, column.title)
      : column.title;
    return h('th', { scope: 'col', role: 'columnheader', class: [classOf(column), column.value ? null : 'plain'].filter(Boolean).join(' ') || null }, title);
  });

  function classOf(column) {
    return [column.number ? 'number' : '', column.narrowHidden ? 'narrow-hidden' : ''].join(' ').trim() || null;
  }

  // Phones show a row as names and values. Roles: without the layout of a table, a browser may not report it as one.
  function rowOf(row) {
    return h('tr', { role: 'row' }, columns.map((column) => h('td', { role: 'cell', class: classOf(column), 'data-title': column.title }, column.cell(row))));
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
    body.replaceChildren(...shown.map(rowOf));
    more.replaceChildren();
    if (rows.length > most) {
      more.append(h('button', { type: 'button', click: () => { most = Infinity; draw(); } }, `Show all ${rows.length} rows`));
    }
  }

  draw();
  const caption = options.caption ? h('caption', null, options.caption) : null;
  if (rows.length === 0 && options.empty) return h('p', { class: 'quiet' }, options.empty);
  const drawn = h('table', { role: 'table' }, caption, h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads)), body);
  orders.set(drawn, {
    titles: columns.map(({ title }) => title).join('|'),
    read: () => ({ sorted, descending, most }),
    restore: (order) => { ({ sorted, descending, most } = order); draw(); },
  });
  return h('div', null,
    h('div', { class: 'scroll', role: 'region', 'aria-label': options.caption ?? 'Table', tabindex: '0' }, drawn),
    more);
}

/**
 * Returns a function that gives the tables in `element`, drawn again, the order and length that they have now. Each call gives
 * them only to tables that have not got them yet.
 */
export function keepOrders(element) {
  const tables = () => [...element.querySelectorAll('table')].map((one) => orders.get(one)).filter(Boolean);
  const before = tables().map(({ titles, read }) => ({ titles, order: read() }));
  return () => tables().forEach(({ titles, restore }) => {
    const same = before.findIndex((one) => one.titles === titles);
    if (same >= 0) restore(before.splice(same, 1)[0].order);
  });
}

const pageSize = 100;
const mostPerRequest = 500;

/** A table of a paged list, newest first. A button loads older items, which a refresh of `place` loads again. */
export async function listTable(path, columns, place, options) {
  const separator = path.includes('?') ? '&' : '?';
  const pageOf = (offset, limit) => read(`${path}${separator}limit=${limit}&offset=${offset}`, place.signal);
  const wanted = () => Math.max(pageSize, Math.min(place.loaded?.[path] ?? 0, mostPerRequest));
  let first;
  let limit;
  do { // again if the user asked for older items meanwhile
    limit = wanted();
    first = await pageOf(0, limit);
  } while (limit < wanted());
  const items = [...first.items];
  const box = h('div');
  const draw = () => {
    const left = first.total - items.length;
    const restore = keepOrders(box);
    box.replaceChildren(table(columns, items, options));
    restore();
    if (left > 0) box.append(h('p', null, h('button', { type: 'button', click: more }, `Show older ones (${left} more)`)));
  };
  const more = async () => {
    place.loaded = { [path]: items.length + pageSize };
    const next = await pageOf(items.length, pageSize);
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
