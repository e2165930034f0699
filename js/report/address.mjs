// What is shown, as it stands in the address after #, so that a link shows the same.
/// <reference lib="dom" />

import {useCallback, useEffect, useState} from 'preact/hooks';

/** @typedef {typeof START} Address */

export const START = {
  /** Text that scenarios have in their names. */
  scenario: '',
  /** And targets. */
  target: '',
  /** Those that are shown, by commas; empty: all. */
  verdict: '',
  language: '',
  sort: 'name',
  /** The key of the cell that is open. */
  cell: '',
  /** The place of the run of it that is looked at; empty: the one that is shown. */
  run: '',
  /** The key of the range of the atlas that is open. */
  atlas: '',
};

/** @param {string} hash @returns {Address} */
export function read(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ''));
  return /** @type {Address} */ (Object.fromEntries(
    Object.entries(START).map(([name, start]) => [name, found.get(name) ?? start])));
}

/** @param {Partial<Address>} address */
export function written(address) {
  const said = Object.entries(address).filter(([name, value]) => value !== START[/** @type {keyof Address} */ (name)]);
  return `#${new URLSearchParams(said)}`;
}

/**
 * The address, and what changes it: `go` so that the browser's Back undoes it, or not with `silently`.
 * @returns {[Address, (change: Partial<Address>, silently?: boolean) => void]}
 */
export function useAddress() {
  const [address, setAddress] = useState(() => read(location.hash));
  useEffect(() => {
    const follow = () => setAddress(read(location.hash));
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const go = useCallback((/** @type {Partial<Address>} */ change, silently = false) => {
    const next = {...read(location.hash), ...change};
    history[silently ? 'replaceState' : 'pushState'](null, '', written(next));
    setAddress(next);
  }, []);
  return [address, go];
}
