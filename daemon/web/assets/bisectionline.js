// The chart of a bisection. Commits are on a line, oldest on the left. Below are rows, one for each wave. A row shows which
// commits were measured or skipped, and the range that most likely has the change after that wave.

import { figureWidth, s } from './dom.js';
import { probability } from './format.js';

const widest = 900;
const left = 100;
const right = 20;
const rowHeight = 30;
const top = 30;

/** Groups the steps by wave: {number, stage, steps}, in order. */
function wavesOf(steps) {
  const waves = [];
  for (const step of steps) {
    const last = waves[waves.length - 1];
    if (last && last.stage === step.stage && last.number === step.wave) last.steps.push(step);
    else waves.push({ number: step.wave, stage: step.stage, steps: [step] });
  }
  return waves;
}

/** The position of each commit, from 0. Old bisections store no list of commits: the order comes from their steps. */
function placesOf(bisection) {
  const listed = [bisection.request.start, ...bisection.commits.map((commit) => commit.sha)];
  const order = bisection.commits.length > 0 ? listed : [...new Set([bisection.request.start, ...bisection.steps.flatMap((step) => step.commits), bisection.request.end])];
  return new Map(order.map((sha, at) => [sha, at]));
}

/** Draws the bisection as SVG. `series`: the name of the series whose probabilities are drawn. */
export function bisectionLine(bisection, series) {
  const width = figureWidth(widest);
  const places = placesOf(bisection);
  const waves = wavesOf(bisection.steps);
  const count = Math.max(2, places.size);
  const x = (sha) => left + ((width - left - right) * (places.get(sha) ?? 0)) / (count - 1);
  const height = top + rowHeight * waves.length + 26;
  const subjects = new Map(bisection.commits.map((commit) => [commit.sha, commit.subject]));
  const name = (sha) => `${sha.slice(0, 12)} ${(subjects.get(sha) ?? '').slice(0, 120)}`;
  return s('svg', { class: 'figure', width, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `${places.size} commits and ${waves.length} waves of measurements; the table below lists each step` },
  s('text', { x: 4, y: 18, class: 'quiet-fill' }, `${places.size - 1} suspects`),
  s('line', { class: 'axis', x1: left, x2: width - right, y1: 14, y2: 14 }),
  count <= 400 ? [...places.keys()].map((sha) => s('circle', { class: 'commit', cx: x(sha), cy: 14, r: 2 }, s('title', null, name(sha)))) : null,
  waves.map((wave, at) => {
    const y = top + rowHeight * at + 14;
    const belief = wave.steps.flatMap((step) => step.beliefs).find((one) => one.series.name === series);
    const ends = belief ? belief.suspects.map(x).sort((one, other) => one - other) : [];
    return [
      s('text', { x: 4, y: y + 4, class: 'quiet-fill' }, `${wave.stage === 'nightlies' ? 'nightlies' : 'wave'} ${wave.number + 1}`),
      s('line', { class: 'axis', x1: left, x2: width - right, y1: y, y2: y }),
      belief ? s('rect', { class: 'belief', x: ends[0] - 3, y: y + 5, width: ends[1] - ends[0] + 6, height: 5, 'fill-opacity': String(0.25 + 0.75 * belief.probability) },
        s('title', null, `${probability(belief.probability)}: the change is in this range; ${probability(belief.no_change)}: there is no change`)) : null,
      wave.steps.map((step) => step.commits.map((sha) => s('circle', { class: step.skipped === sha ? 'skipped' : 'built', cx: x(sha), cy: y, r: 4.5 },
        s('title', null, `${name(sha)}${step.skipped === sha ? ': skipped, could not be built or measured' : ''}`)))),
    ];
  }),
  s('text', { x: width < widest ? 4 : left, y: height - 6, class: 'quiet-fill' }, `baseline ${bisection.request.start.slice(0, 12)}`),
  s('text', { x: width - right, y: height - 6, class: 'quiet-fill', 'text-anchor': 'end' }, `candidate ${bisection.request.end.slice(0, 12)}`));
}
