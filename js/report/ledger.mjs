// The cells by row and column, and what of them is chosen.

import {columnsOf} from './columns.mjs';

/**
 * One scenario on one target.
 * @typedef {object} Cell
 * @property {string} key  what it is called: SCENARIO[TARGET]
 * @property {string} scenario
 * @property {string} target
 * @property {Run[]} runs  what each file says of it
 * @property {number} shown  the place of the run that is shown
 * @property {string} verdict  of that one
 * @property {number} seconds  likewise
 * @property {string} language
 * @property {number} alike  how many of its runs have that verdict
 */

/**
 * @typedef {object} Run
 * @property {string} file
 * @property {string} verdict
 * @property {number} seconds
 * @property {import('./types.d.mts').Body} body
 */

/** Verdicts of cells that are not as expected. */
export const BROKEN = ['error', 'fail'];

/** @typedef {ReturnType<typeof ledgerOf>} Ledger */
/** @typedef {ReturnType<typeof chosen>} View */

/** @param {import('./types.d.mts').Data} data */
export function ledgerOf(data) {
  /** @type {Map<string, Cell>} */
  const cells = new Map();
  /** @type {Map<string, Map<string, Cell>>} */
  const rows = new Map(data.scenarios.map(scenario => [scenario, new Map()]));
  for (const [row, column, written, shown] of data.cells) {
    const scenario = data.scenarios[row], target = data.targets[column];
    const runs = written.map(([file, verdict, seconds, body]) => (
      {file: data.files[file].file, verdict, seconds, body: data.bodies[body]}));
    const {verdict, seconds, body} = runs[shown];
    const cell = {
      key: keyOf(scenario, target), scenario, target, runs, shown, verdict, seconds, language: body.language,
      alike: runs.filter(run => run.verdict === verdict).length,
    };
    cells.set(cell.key, cell);
    /** @type {Map<string, Cell>} */ (rows.get(scenario)).set(target, cell);
  }
  return {data, cells, rows, columns: columnsOf(data.targets), verdicts: Object.keys(data.marks)};
}

/** @param {string} scenario @param {string} target */
export function keyOf(scenario, target) {
  return `${scenario}[${target}]`;
}

/**
 * Returns the rows and columns that have a cell which is asked for, and how many there are of each verdict.
 * @param {Ledger} ledger
 * @param {import('./address.mjs').Address} address
 */
export function chosen(ledger, {scenario, target, language, verdict, sort}) {
  const verdicts = verdict ? verdict.split(',') : ledger.verdicts;
  const asked = ledger.columns.filter(column => has(column.target, target));
  /** @type {Record<string, number>} */
  const counts = {};
  const used = new Set();
  const found = [];
  for (const [name, row] of ledger.rows) {
    if (!has(name, scenario)) continue;
    /** @type {Cell[]} */
    const kept = [];
    for (const column of asked) {
      const cell = row.get(column.target);
      if (!cell || (language && cell.language !== language)) continue;
      counts[cell.verdict] = (counts[cell.verdict] ?? 0) + 1;
      if (!verdicts.includes(cell.verdict)) continue;
      used.add(column);
      kept.push(cell);
    }
    if (kept.length) found.push({scenario: name, kept: new Map(kept.map(cell => [cell.target, cell]))});
  }
  const columns = asked.filter(column => used.has(column));
  const rows = sorted(found, sort, ledger.verdicts).map(row => (
    {scenario: row.scenario, cells: columns.map(column => row.kept.get(column.target))}));
  return {rows, columns, counts};
}

/** @typedef {{scenario: string, kept: Map<string, Cell>}} Kept */

/** @param {Kept[]} rows @param {string} by @param {string[]} verdicts */
function sorted(rows, by, verdicts) {
  /** Fewer of the worse verdicts come later. @param {Kept} row */
  const badness = row => {
    const counts = verdicts.map(() => 0);
    for (const cell of row.kept.values()) counts[verdicts.indexOf(cell.verdict)] += 1;
    return counts;
  };
  /** @param {Kept} row */
  const seconds = row => [[...row.kept.values()].reduce((sum, cell) => sum + cell.seconds, 0)];
  const weight = by === 'verdict' ? badness : by === 'seconds' ? seconds : () => [];
  return rows
    .map(row => ({row, weight: weight(row)}))
    .sort((a, b) => {
      const at = a.weight.findIndex((value, place) => value !== b.weight[place]);
      return at < 0 ? a.row.scenario.localeCompare(b.row.scenario, 'en') : b.weight[at] - a.weight[at];
    })
    .map(({row}) => row);
}

/** @param {string} text @param {string} part */
function has(text, part) {
  return text.toLowerCase().includes(part.trim().toLowerCase());
}
