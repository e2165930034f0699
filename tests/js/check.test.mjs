import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';

import {Validator} from '@cfworker/json-schema';

import {checker} from '../../js/protocol/check.mjs';

const schema = JSON.parse(readFileSync(new URL('../../js/protocol/schema.json', import.meta.url), 'utf8'));
const check = checker(schema, Validator);

test('a message as agreed is handed on as it is', () => {
  const reached = {cycle: 0, name: 'created'};
  assert.equal(check('reached', 'params', reached), reached);
});

for (const [what, params] of /** @type {[string, any][]} */ ([
  ['a field of another type', {cycle: 'first', name: 'created'}],
  ['a missing field', {name: 'created'}],
  ['an unknown field', {cycle: 0, name: 'created', colour: 'red'}],
  ['null', null],
])) {
  test(`a message with ${what} is refused`, () => {
    assert.throws(() => check('reached', 'params', params), {name: 'TypeError', message: /^protocol: the params of "reached"/});
  });
}

test('what stands deep inside a message is checked too', () => {
  const reading = {tensors: 1, bytes: 4, buffers: null, buffer_bytes: 4, backend: {}, heap: {used: 1}, process: {}};
  const cycle = {baseline: reading, checkpoints: [{name: 'end', reading}], thrown: null, leaks: []};
  const outcome = {recipe: 'dispose', cycles: [cycle], agreements: [], not_applicable: null, running: [], error: null};
  assert.equal(check('run', 'result', outcome), outcome);
  const wrong = {...cycle, checkpoints: [{name: 'end', reading: {...reading, tensors: 'one'}}]};
  assert.throws(() => check('run', 'result', {...outcome, cycles: [wrong]}), /tensors/);
});
