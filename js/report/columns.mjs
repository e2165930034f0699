// Targets as columns: those of one runtime and backend beside each other, oldest release first.

/**
 * @typedef {object} Column
 * @property {string} target
 * @property {string} group  runtime and backend
 * @property {string} version  empty where the target has none
 */

/** @param {string[]} targets @returns {Column[]} */
export function columnsOf(targets) {
  const columns = targets.map(target => {
    const [, name, version = '', backend = ''] = /^([^@/]*)(?:@([^/]*))?(?:\/(.*))?$/.exec(target) ?? ['', target];
    return {target, group: backend ? `${name} ${backend}` : name, version};
  });
  const groups = [...new Set(columns.map(column => column.group))];
  return columns.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || compared(a.version, b.version));
}

/** @param {Column[]} columns @returns {Column[][]} */
export function grouped(columns) {
  /** @type {Map<string, Column[]>} */
  const groups = new Map();
  for (const column of columns) groups.set(column.group, [...groups.get(column.group) ?? [], column]);
  return [...groups.values()];
}

/** @param {string} a @param {string} b */
function compared(a, b) {
  return a.localeCompare(b, 'en', {numeric: true});
}
