import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isForWantOfRoom,
  ownValues,
  scriptOf,
  topologyKindOf,
  valueProblems,
  valuesOf,
} from './script.ts'
import type { OperationScript, Values } from './script.ts'

const failing = (error: string, failures = Infinity, durationMs = 0): OperationScript => ({
  durationMs,
  error: `rpc error: code = ${error}`,
  failures,
})
const works: OperationScript = { durationMs: 0, error: undefined, failures: Infinity }

const SCRIPTS: readonly (readonly [string, Values, OperationScript])[] = [
  ['nothing said', {}, works],
  ['slow', { 'sim.storage/attach': '1m30s' }, { ...works, durationMs: 90_000 }],
  ['no duration', { 'sim.storage/attach': 'soon' }, works],
  ['of another operation', { 'sim.storage/detach-error': 'no' }, works],
  ['refused', { 'sim.storage/attach-error': 'no luck' }, failing('Internal desc = no luck')],
  [
    'a code of its own',
    { 'sim.storage/attach-error': 'NotFound: no disk: none' },
    failing('NotFound desc = no disk: none'),
  ],
  [
    'no code',
    { 'sim.storage/attach-error': 'disk x: not there' },
    failing('Internal desc = disk x: not there'),
  ],
  [
    'refused so often',
    { 'sim.storage/attach-failures': '2', 'sim.storage/attach-error': 'no' },
    failing('Internal desc = no', 2),
  ],
  [
    'refused so often, without a text',
    { 'sim.storage/attach-failures': '1' },
    failing('Internal desc = scripted failure', 1),
  ],
  [
    'a count that is none',
    { 'sim.storage/attach-failures': 'many', 'sim.storage/attach-error': 'no' },
    failing('Internal desc = no'),
  ],
]
for (const [title, values, wanted] of SCRIPTS)
  test(`an operation: ${title}`, () => assert.deepEqual(scriptOf('attach', values), wanted))

test('want of room is told by its code', () => {
  const answer = (text: string): string =>
    scriptOf('provision', { 'sim.storage/provision-error': text }).error ?? ''
  assert.equal(isForWantOfRoom(answer('ResourceExhausted: full')), true)
  assert.equal(isForWantOfRoom(answer('Internal: ResourceExhausted')), false)
})

test('annotations of the volume win over what it was made with, and others are not ours', () => {
  const values = valuesOf({
    metadata: { annotations: { 'sim.storage/mount': '1s', 'example.com/mount': '3s' } },
    spec: {
      csi: {
        driver: 'sim.storage',
        volumeHandle: 'v',
        volumeAttributes: { 'sim.storage/mount': '2s', 'sim.storage/attach': '2s', type: 'ssd' },
      },
    },
  })
  assert.deepEqual(values, { 'sim.storage/mount': '1s', 'sim.storage/attach': '2s' })
  assert.deepEqual(ownValues(undefined), {})
})

test('places', () => {
  assert.equal(topologyKindOf({}), 'zone')
  assert.equal(topologyKindOf({ 'sim.storage/topology': 'node' }), 'node')
  assert.equal(topologyKindOf({ 'sim.storage/topology': 'rack' }), 'zone')
})

test('what cannot be used is told, one sentence each', () => {
  assert.deepEqual(
    valueProblems({
      'sim.storage/attach': '3s',
      'sim.storage/attach-error': 'no',
      'sim.storage/attach-failures': '3',
      'sim.storage/topology': 'anywhere',
    }),
    [],
  )
  assert.deepEqual(
    valueProblems({
      'sim.storage/atach': '3s',
      'sim.storage/colour': 'red',
      'sim.storage/attach': 'long',
      'sim.storage/mount-failures': '-1',
      'sim.storage/delete-error': '',
      'sim.storage/topology': 'rack',
    }),
    [
      'sim.storage/atach is not known to the storage driver: did you mean sim.storage/attach?',
      'sim.storage/colour is not known to the storage driver',
      'sim.storage/attach cannot be used: "long" is not a duration such as 3s or 1m30s',
      'sim.storage/mount-failures cannot be used: "-1" is not a whole number',
      'sim.storage/delete-error cannot be used: "" is not a text',
      'sim.storage/topology cannot be used: "rack" is not zone or node or anywhere',
    ],
  )
})
