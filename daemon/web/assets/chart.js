// A chart of levels by nightly. The library dygraphs draws, zooms and pans.

import { announce, h } from './dom.js';
import { axisLevel } from './format.js';
import { thinned } from './thinning.js';

let library = null;

/** Removes the legend: it writes inline styles, which the content security policy forbids. The panel below the chart shows the values. */
function withoutLegend(Dygraph) {
  Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
  return Dygraph;
}

/** Loads dygraphs when the first chart is drawn. It is a script, not an ES module. */
function loadLibrary() {
  library ??= new Promise((resolve, reject) => {
    document.head.append(h('link', { rel: 'stylesheet', href: '/assets/dygraph.min.css' }));
    document.head.append(h('script', {
      src: '/assets/dygraph.min.js', load: () => resolve(withoutLegend(window.Dygraph)), error: () => reject(new Error('The chart library did not load.')),
    }));
  });
  return library;
}

function colour(role) {
  return getComputedStyle(document.documentElement).getPropertyValue(role).trim();
}

const roles = ['--link', '--accent', '--good', '--warn'];
const bandAlpha = 0.18;
const dayMs = 86400000;

/** Local midnight of an ISO date, so that a date is the same day in every time zone. */
export function dayOf(date) {
  return new Date(`${date}T00:00:00`);
}

/** One row per date: [date, [low, level, high] of each line]; nulls where a line has no such date. */
function rowsOf(lines) {
  const rows = new Map();
  lines.forEach((line, index) => line.dates.forEach((date, at) => {
    const row = rows.get(date) ?? [dayOf(date), ...lines.map(() => [null, null, null])];
    row[index + 1] = [line.low[at], line.level[at], line.high[at]];
    rows.set(date, row);
  }));
  return [...rows.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

/** Draws the band as one shape. dygraphs draws one shape per nightly, which takes 250 ms in a browser without a GPU. */
function bandPlotter({ drawingContext, points, plotArea, color }) {
  const edge = points.filter((point) => !Number.isNaN(point.y_top) && !Number.isNaN(point.y_bottom) && point.y_top !== null);
  if (edge.length === 0) return;
  const y = (share) => plotArea.y + share * plotArea.h;
  drawingContext.globalAlpha = bandAlpha;
  drawingContext.fillStyle = color;
  drawingContext.beginPath();
  for (const point of edge) drawingContext.lineTo(point.canvasx, y(point.y_top));
  for (const point of edge.reverse()) drawingContext.lineTo(point.canvasx, y(point.y_bottom));
  drawingContext.fill();
  drawingContext.globalAlpha = 1;
}

const titles = { latency: 'Latency (ms)', cmem: 'Peak memory', gmem: 'Peak memory', leak: 'Memory not freed' };

/** The title of the y axis of a line. The ticks of bytes have their own units, and counts have none. */
function axisTitle({ metric, unit }) {
  const hasUnit = !['bytes', 'bytes/iteration', '1'].includes(unit);
  return titles[metric] ?? (hasUnit ? `${metric} (${unit})` : metric);
}

/** The options of dygraphs. The line connects nightlies across missing dates. */
function options(lines, rows, chosen) {
  const series = {};
  lines.forEach((line, index) => { series[line.label] = { axis: line.unit === lines[0].unit ? 'y' : 'y2', color: colour(roles[index % roles.length]) }; });
  const others = lines.find((line) => line.unit !== lines[0].unit);
  return {
    labels: ['Nightly', ...lines.map((line) => line.label)],
    customBars: true,
    connectSeparatedPoints: true,
    drawPoints: rows.length < 200,
    pointSize: 2.5,
    strokeWidth: 1.5,
    plotter: [bandPlotter, window.Dygraph.Plotters.linePlotter],
    highlightCircleSize: 4,
    series,
    ylabel: axisTitle(lines[0]),
    y2label: others ? axisTitle(others) : undefined,
    axes: { y: { axisLabelWidth: 72, axisLabelFormatter: (value) => axisLevel(value, lines[0].unit) }, y2: { independentTicks: true, axisLabelWidth: 72, axisLabelFormatter: (value) => axisLevel(value, others?.unit) } },
    axisLabelColor: colour('--text'),
    axisLineColor: colour('--line'),
    gridLineColor: colour('--line'),
    showRangeSelector: true,
    rangeSelectorHeight: 30,
    rangeSelectorPlotFillColor: colour('--link'),
    rangeSelectorPlotStrokeColor: colour('--link'),
    dateWindow: chosen.window ?? null,
    animatedZooms: false,
  };
}

/** A canvas with all layers of the chart, labels included. */
function pictureOf(box, background) {
  const frame = box.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  const canvas = h('canvas', { width: frame.width * scale, height: frame.height * scale });
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  context.fillStyle = background;
  context.fillRect(0, 0, frame.width, frame.height);
  for (const layer of box.querySelectorAll('canvas')) {
    const at = layer.getBoundingClientRect();
    context.drawImage(layer, at.left - frame.left, at.top - frame.top, at.width, at.height);
  }
  context.fillStyle = colour('--text');
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  for (const label of box.querySelectorAll('.dygraph-axis-label')) {
    const at = label.getBoundingClientRect();
    context.textAlign = label.classList.contains('dygraph-axis-label-x') ? 'center' : 'right';
    const x = context.textAlign === 'center' ? at.left + at.width / 2 : at.right;
    context.fillText(label.textContent, x - frame.left, at.top + at.height / 2 - frame.top);
  }
  return canvas;
}

/**
 * Draws `lines` ({label, unit, dates, level, low, high}) into `box`. `chosen`: {window: [from, to] in ms, or null for all}.
 * `onSelect` gets the selected date. `onWindow` gets the shown range [from, to] in ms, or null for all. Returns
 * {zoom(factor), pan(share), all, move(steps), select(row), window, mark({date, short, text}[]), picture, destroy}.
 * Marks are on the first line.
 */
export async function drawChart(box, lines, chosen, onSelect, onWindow) {
  const Dygraph = await loadLibrary();
  const rows = rowsOf(lines);
  const begin = rows[0][0].getTime();
  const end = rows[rows.length - 1][0].getTime();
  let selected = rows.length - 1;
  let timer = null; // until the shown range is reported
  let drawn = thinned(rows, ...(chosen.window ?? [begin, end]), new Set());
  let marked = new Set();
  let isOurs = false; // true while this code draws, and not the user's drag

  const reportWindow = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const [from, to] = graph.xAxisRange();
      sharpen();
      onWindow(from <= begin + dayMs && to >= end - dayMs ? null : [from, to]);
    }, 250);
  };
  /** Draws the shown range with more points than the rest. */
  const sharpen = (window = graph.xAxisRange()) => {
    drawn = thinned(rows, ...window, marked);
    isOurs = true;
    graph.updateOptions({ file: drawn, dateWindow: [...window] });
    isOurs = false;
  };
  const select = (row) => {
    selected = Math.max(0, Math.min(rows.length - 1, row));
    const day = rows[selected][0].getTime();
    graph.setSelection(Math.max(0, drawn.findLastIndex(([date]) => date.getTime() <= day)));
    onSelect(rows[selected][0]);
  };
  const began = performance.now();
  const graph = new Dygraph(box, drawn, {
    ...options(lines, rows, chosen),
    zoomCallback: reportWindow,
    drawCallback: (_, isFirst) => { if (!isFirst && !isOurs) reportWindow(); },
    clickCallback: (event, x) => select(places.get(x)),
  });
  performance.measure('chart', { start: began });
  // The handles are images for the mouse. Keyboard users have the keys below.
  for (const handle of box.querySelectorAll('img')) handle.alt = '';
  const places = new Map(rows.map(([date], at) => [date.getTime(), at]));

  const show = (from, to) => {
    const width = Math.max(7 * dayMs, Math.min(end - begin, to - from));
    const left = Math.max(begin, Math.min(end - width, from));
    sharpen([left, left + width]);
    reportWindow();
  };
  const control = {
    zoom(factor) {
      const [from, to] = graph.xAxisRange();
      const middle = (from + to) / 2;
      show(middle - (factor * (to - from)) / 2, middle + (factor * (to - from)) / 2);
    },
    pan(share) {
      const [from, to] = graph.xAxisRange();
      show(from + share * (to - from), to + share * (to - from));
    },
    all() { sharpen([begin, end]); onWindow(null); },
    move(steps) { select(selected + steps); },
    select,
    window: () => graph.xAxisRange(),
    mark(marks) {
      marked = new Set(marks.map((mark) => dayOf(mark.date).getTime()));
      sharpen();
      graph.setAnnotations(marks.filter((mark) => places.has(dayOf(mark.date).getTime())).map((mark) => ({
        series: lines[0].label, x: dayOf(mark.date).getTime(), shortText: mark.short, text: mark.text, cssClass: 'mark', width: 20, height: 18,
        attachAtBottom: true, clickHandler: () => select(places.get(dayOf(mark.date).getTime())),
      })));
    },
    picture: () => pictureOf(box, colour('--ground')),
    destroy() {
      clearTimeout(timer);
      graph.destroy();
    },
  };
  const wheel = (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // so that a chart does not stop the page from scrolling
    event.preventDefault();
    if (event.shiftKey) control.pan(0.1 * Math.sign(event.deltaY || event.deltaX));
    else control.zoom(event.deltaY > 0 ? 1.25 : 0.8);
  };
  box.addEventListener('wheel', wheel, { passive: false });
  const keys = {
    ArrowLeft: () => control.move(-1), ArrowRight: () => control.move(1), PageUp: () => control.pan(-0.5), PageDown: () => control.pan(0.5),
    Home: () => select(0), End: () => select(rows.length - 1), '+': () => control.zoom(0.5), '-': () => control.zoom(2), 0: () => control.all(),
  };
  box.addEventListener('keydown', (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
    announce(rows[selected][0].toLocaleDateString());
  });
  return control;
}
