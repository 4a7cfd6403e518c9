// The last nights of a series, as a line the height of a text.

import { s } from './dom.js';

const width = 120;
const height = 24;
const margin = 3;

/** A picture for the eye alone: what it shows stands beside it in figures. */
export function sparkline(levels) {
  const picture = s('svg', { class: 'spark', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  if (levels.length === 0) return picture;
  const low = Math.min(...levels);
  const high = Math.max(...levels);
  // Less than 2% is noise, and should look like it.
  const span = Math.max(high - low, 0.02 * Math.abs(high), 1e-12);
  const middle = (low + high) / 2;
  const x = (at) => margin + (width - 2 * margin) * (levels.length === 1 ? 1 : at / (levels.length - 1));
  const y = (level) => height / 2 - (height - 2 * margin) * ((level - middle) / span);
  const points = levels.map((level, at) => `${x(at).toFixed(1)},${y(level).toFixed(1)}`);
  picture.append(s('polyline', { points: points.join(' ') }));
  return picture;
}
