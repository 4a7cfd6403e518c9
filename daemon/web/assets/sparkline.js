// The newest nightlies of a series, as a line of the height of text.

import { s } from './dom.js';

const width = 120;
const height = 24;
const margin = 3;

/** Draws the line. Screen readers skip it: the other columns have the values. */
export function sparkline(levels) {
  const picture = s('svg', { class: 'spark', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  if (levels.length === 0) return picture;
  const low = Math.min(...levels);
  const high = Math.max(...levels);
  // Changes below 2% are noise: at least 2% fill the height.
  const span = Math.max(high - low, 0.02 * Math.abs(high), 1e-12);
  const middle = (low + high) / 2;
  const x = (at) => margin + (width - 2 * margin) * (levels.length === 1 ? 1 : at / (levels.length - 1));
  const y = (level) => height / 2 - (height - 2 * margin) * ((level - middle) / span);
  const points = levels.map((level, at) => `${x(at).toFixed(1)},${y(level).toFixed(1)}`);
  picture.append(s('polyline', { points: points.join(' ') }));
  return picture;
}
