// The ways to release a model, each by its name. `release` acts on the models that the zoo made; a recipe with `around`
// runs the scenario inside something that is to release what it made.

import {engineOf} from '../ledger/engine.mjs';
import {isLoaded} from '../models/load.mjs';
import {makeModel, releaseModel} from '../release/release.mjs';
import {modelClass} from '../worker/library.mjs';

/**
 * @typedef {object} Recipe
 * @property {(context: any) => unknown} [before]  before a cycle's scenario starts
 * @property {<T>(tf: any, make: () => T) => T} [make]  makes each model of the zoo; by itself if absent
 * @property {(tf: any, body: () => unknown) => unknown} [around]  for scenarios that are plain functions
 * @property {boolean} [synchronous]  whether `around` takes synchronous functions only
 * @property {(context: any) => unknown} [release]  what context.release() does; nothing if absent
 */

/** @param {any[]} models @param {(weight: any) => void} act */
function eachWeight(models, act) {
  for (const model of models) for (const layer of model.layers) for (const weight of layer.weights) act(weight);
}

/** @type {Record<string, Recipe>} */
export const RECIPES = {
  'dispose': {
    release({held}) {
      for (const model of held) model.dispose();
    },
  },
  'walk-weights': {
    release: ({held}) => eachWeight(held, weight => weight.dispose()),
  },
  'walk-values': {
    release: ({held}) => eachWeight(held, weight => weight.val.dispose()),
  },
  'dispose-variables': {
    release: ({tf}) => tf.disposeVariables(),
  },
  'engine-scope': {
    async around(tf, body) {
      const engine = engineOf(tf);
      engine.startScope();
      try {
        await body();
      } finally {
        engine.endScope();
      }
    },
  },
  'tidy': {
    around: (tf, body) => tf.tidy(() => {
      body();
    }),
    synchronous: true,
  },
  'drop-reference': {},
  'complete': {
    make: makeModel,
    release({held}) {
      for (const model of held) releaseModel(model, isLoaded(model) ? {optimizer: true} : {});
    },
  },
};

/**
 * The name of the way that a release is released by when nobody asks for another.
 * @param {any} tf
 */
export function defaultRecipe(tf) {
  return typeof modelClass(tf).prototype.dispose === 'function' ? 'dispose' : 'walk-values';
}

/**
 * Why a recipe does not apply to a scenario, or is not there; null where it does.
 * @param {string} name
 * @param {Function} scenario
 */
export function whyNot(name, scenario) {
  if (!Object.hasOwn(RECIPES, name)) {
    return `there is none of this name in JavaScript, only ${Object.keys(RECIPES).join(', ')}`;
  }
  const {around, synchronous} = RECIPES[name];
  if (!around) return null;
  const kind = Object.getPrototypeOf(scenario).constructor.name;
  if (kind === 'Function' || (kind === 'AsyncFunction' && !synchronous)) return null;
  return `it wraps a whole ${synchronous ? 'synchronous ' : ''}function, and this scenario is ` +
    (kind === 'AsyncFunction' ? 'asynchronous' : 'a generator');
}
