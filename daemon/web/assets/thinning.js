// Reduces the points of a chart to fewer than its pixels. Points that would overlap are merged into one with their full range.

const mostInside = 320; // points in the shown range
const mostOutside = 60; // points on each side of it

function median(values) {
  const sorted = values.filter((value) => value !== null).sort((one, other) => one - other);
  return sorted.length === 0 ? null : sorted[sorted.length >> 1];
}

/** Merges rows into one. Its date is that of the first marked row, or of the middle one. */
function merged(rows, marked) {
  const date = (rows.find(([day]) => marked.has(day.getTime())) ?? rows[rows.length >> 1])[0];
  return [date, ...rows[0].slice(1).map((_, line) => {
    const there = rows.map((row) => row[line + 1]).filter(([, level]) => level !== null);
    if (there.length === 0) return [null, null, null];
    return [Math.min(...there.map(([low]) => low)), median(there.map(([, level]) => level)), Math.max(...there.map(([, , high]) => high))];
  })];
}

function bucketed(rows, most, marked) {
  if (rows.length <= most) return rows;
  const size = Math.ceil(rows.length / most);
  const buckets = [];
  for (let at = 0; at < rows.length; at += size) buckets.push(merged(rows.slice(at, at + size), marked));
  return buckets;
}

/** Thins `rows`: [date, [low, level, high] of each line], by date. `from`, `to`: the shown range in ms. `marked`: dates in ms to keep. */
export function thinned(rows, from, to, marked) {
  const first = rows.findIndex(([date]) => date.getTime() >= from);
  const begin = Math.max(0, (first < 0 ? rows.length : first) - 1);
  const after = rows.findIndex(([date]) => date.getTime() > to);
  const end = after < 0 ? rows.length : Math.min(rows.length, after + 1);
  return [
    ...bucketed(rows.slice(0, begin), mostOutside, marked),
    ...bucketed(rows.slice(begin, end), mostInside, marked),
    ...bucketed(rows.slice(end), mostOutside, marked),
  ];
}
