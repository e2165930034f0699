// The charts, drawn by Observable Plot. What is expected is a ring and what is measured a dot: one in the other where
// they agree, so that it takes no colour to tell.
/// <reference lib="dom" />

import {dot, line, link, plot, ruleY, text} from '@observablehq/plot';
import {useLayoutEffect, useRef} from 'preact/hooks';

import {html} from './html.mjs';
import {number} from './words.mjs';

const INK = 'var(--ink)', FAINT = 'var(--faint)', LINE = 'var(--line)', BAD = 'var(--bad)';
const STYLE = {fontFamily: 'inherit', fontSize: '11px', background: 'none', overflow: 'visible'};
/** Letters of a checkpoint's name that are written below a chart; the table has the whole. */
const LONGEST = 16;
const SHORT = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 2});

/** @param {{draw: (width: number) => Element, label: string, of: unknown}} props */
export function Chart({draw, label, of}) {
  const place = /** @type {{current: HTMLElement | null}} */ (useRef(null));
  useLayoutEffect(() => {
    const here = /** @type {HTMLElement} */ (place.current);
    const svg = draw(here.clientWidth || 480);
    // It is read as one picture, whose numbers the table has; names of its parts would be in the way.
    svg.querySelectorAll('[aria-label]').forEach(part => part.removeAttribute('aria-label'));
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', label);
    here.replaceChildren(svg);
  }, [of]);
  return html`<div class="chart" ref=${place}></div>`;
}

/** The axis of a level, from nothing on. Between counts there is nothing to write. */
const HEIGHT = {
  label: null, ticks: 3, tickSize: 0, zero: true, nice: true,
  tickFormat: (/** @type {number} */ value) => (Number.isInteger(value) ? SHORT.format(value) : ''),
};

/**
 * @param {import('./types.d.mts').Checkpoint[]} checkpoints
 * @param {'tensors' | 'bytes'} quantity
 * @param {number} width
 */
export function lifeChart(checkpoints, quantity, width) {
  const names = checkpoints.map(({name}) => (name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name));
  const points = checkpoints.map((checkpoint, place) => (
    {place, measured: checkpoint[quantity] ?? NaN, expected: checkpoint.expected?.[quantity] ?? NaN}));
  const measured = points.filter(point => !isNaN(point.measured));
  const expected = points.filter(point => !isNaN(point.expected));
  const missed = expected.filter(point => !isNaN(point.measured) && point.measured !== point.expected);
  const room = (width - 70) / Math.max(1, names.length);
  const crowded = Math.max(...names.map(name => name.length)) * 6.2 > room;
  return plot({
    width,
    height: crowded ? 200 : 168,
    marginLeft: 52,
    marginRight: 24,
    marginTop: 26,
    marginBottom: crowded ? 66 : 30,
    style: STYLE,
    x: {
      type: 'point', domain: points.map(point => point.place), padding: 0.35, label: null, tickSize: 0, tickPadding: 12,
      tickFormat: place => names[place], tickRotate: crowded ? -35 : 0,
    },
    y: HEIGHT,
    marks: [
      ruleY([0], {stroke: LINE}),
      line(points, {x: 'place', y: 'expected', curve: 'step-after', stroke: FAINT, strokeDasharray: '2 3', className: 'expected-steps'}),
      line(points, {x: 'place', y: 'measured', curve: 'step-after', stroke: FAINT, strokeWidth: 1.25, className: 'measured-steps'}),
      link(missed, {x: 'place', y1: 'expected', y2: 'measured', stroke: BAD, strokeWidth: 1.5, className: 'missed'}),
      dot(expected, {x: 'place', y: 'expected', r: 6.5, stroke: INK, strokeWidth: 1.25, fill: 'var(--paper)', className: 'expected'}),
      dot(measured, {
        x: 'place', y: 'measured', r: 3.25, fill: point => (missed.includes(point) ? BAD : INK), className: 'measured'}),
      text(measured, {
        x: 'place', y: 'measured', text: point => number(point.measured), dy: -15, fill: INK, stroke: 'var(--paper)',
        strokeWidth: 4, className: 'numbers'}),
    ],
  });
}

/**
 * @param {number[]} values  after each cycle
 * @param {{rate: number} | undefined} fit
 * @param {number} width
 */
export function growthChart(values, fit, width) {
  const points = values.map((value, place) => ({cycle: place + 1, value}));
  const middle = (values.length + 1) / 2, mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const fitted = fit ? [1, values.length].map(cycle => ({cycle, value: mean + fit.rate * (cycle - middle)})) : [];
  return plot({
    width,
    height: 130,
    marginLeft: 48,
    marginRight: 12,
    marginTop: 12,
    marginBottom: 34,
    style: STYLE,
    x: {
      label: 'cycle', labelAnchor: 'center', labelArrow: 'none', tickSize: 0, ticks: values.length < 8 ? points.map(({cycle}) => cycle) : 5,
      tickFormat: cycle => (Number.isInteger(cycle) ? String(cycle) : ''), inset: 6,
    },
    y: HEIGHT,
    marks: [
      ruleY([0], {stroke: LINE}),
      line(fitted, {x: 'cycle', y: 'value', stroke: BAD, strokeWidth: 1.5, strokeDasharray: '5 3', className: 'fitted'}),
      dot(points, {x: 'cycle', y: 'value', r: 3, fill: INK, className: 'measured'}),
    ],
  });
}
