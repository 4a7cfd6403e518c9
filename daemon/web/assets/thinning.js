// Fewer points than pixels: what one could not tell apart anyway is one point, whose band holds all that it stands for.

const mostInside = 320; // of the range that is shown ...
const mostOutside = 60; // ... and on each side of it

function median(values) {
  const sorted = values.filter((value) => value !== null).sort((one, other) => one - other);
  return sorted.length === 0 ? null : sorted[sorted.length >> 1];
}

/** One row for several: the date of the first that is marked, or of the middle one. */
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

/** `rows`: [date, [low, level, high] of each line], by date. `from`, `to`: what is shown, in ms. `marked`: dates in ms that must stay. */
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
