// What js/ and tests/js are linted with: make lint. ESLint itself needs a newer Node.js than the one that they run on.

import js from '@eslint/js';
import globals from 'globals';

export default [
  {ignores: ['**/node_modules/', '.venv/', 'dist/', 'build/', 'js/watch/observer.js', 'js/report/report.js']},
  js.configs.recommended,
  {
    languageOptions: {ecmaVersion: 2022, sourceType: 'module', globals: globals.node},
    linterOptions: {reportUnusedDisableDirectives: 'error', reportUnusedInlineConfigs: 'error'},
    rules: {
      'array-callback-return': 'error',
      'curly': ['error', 'multi-line', 'consistent'],
      'default-case-last': 'error',
      'eqeqeq': 'error',
      'guard-for-in': 'error',
      'no-constructor-return': 'error',
      'no-duplicate-imports': 'error',
      'no-eval': 'error',
      'no-extend-native': 'error',
      'no-implied-eval': 'error',
      'no-return-assign': 'error',
      'no-self-compare': 'error',
      'no-shadow': 'error',
      'no-template-curly-in-string': 'error',
      'no-throw-literal': 'error',
      'no-unmodified-loop-condition': 'error',
      'no-unneeded-ternary': 'error',
      'no-unused-expressions': 'error',
      'no-unused-vars': ['error', {caughtErrors: 'all', argsIgnorePattern: '^_'}],
      'no-use-before-define': ['error', {functions: false, classes: false}],
      'no-useless-call': 'error',
      'no-useless-computed-key': 'error',
      'no-useless-concat': 'error',
      'no-useless-rename': 'error',
      'no-useless-return': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-arrow-callback': 'error',
      'prefer-const': 'error',
      'prefer-exponentiation-operator': 'error',
      'prefer-object-has-own': 'error',
      'radix': 'error',
      'yoda': 'error',
    },
  },
  {
    files: ['js/worker/{browser,page}.mjs', 'js/scenarios/browser/**', 'js/report/**'],
    languageOptions: {globals: globals.browser},
  },
  {
    files: ['tests/packages/**'],
    languageOptions: {ecmaVersion: 'latest', globals: globals.mocha},
  },
  {
    // LEAKS is what their bundler says.
    files: ['tests/pages/**/*.mjs'],
    languageOptions: {globals: {...globals.browser, LEAKS: 'readonly'}},
  },
  {
    files: ['**/*.js'],
    languageOptions: {sourceType: 'commonjs'},
  },
  {
    // Dropping a name is what scenarios are about.
    files: ['js/scenarios/**', 'js/check/life.mjs', 'js/claims/**', 'benchmarks/{growing,planted}/**'],
    rules: {'no-useless-assignment': 'off'},
  },
];
