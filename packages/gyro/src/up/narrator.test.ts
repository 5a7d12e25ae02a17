import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '@gyropilot/api'
import { linesOf } from './narrator.ts'

function event(
  kind: string,
  name: string,
  reason: string,
  message: string,
  more: object = {},
): Event {
  return {
    metadata: {},
    type: 'Normal',
    involvedObject: { kind, name, ...(kind === 'Node' ? {} : { namespace: 'ns' }) },
    reason,
    message,
    ...more,
  }
}

const nodeReady = (number: number): Event =>
  event('Node', `node-${number}`, 'NodeReady', `Node node-${number} status is now: NodeReady`)
const textsOf = (events: readonly Event[]): readonly string[] =>
  linesOf(events).map(({ text }) => text)

test('a few nodes are told one by one, many as a number', () => {
  const scaled = event('Deployment', 'web', 'ScalingReplicaSet', 'Scaled up')
  assert.deepEqual(textsOf([nodeReady(1), scaled]), [
    'node node-1: Node node-1 status is now: NodeReady',
    'deployment ns/web: Scaled up',
  ])
  const many = Array.from({ length: 6 }, (_, index) => nodeReady(index))
  assert.deepEqual(textsOf([...many, scaled]), [
    '6 nodes are ready',
    'deployment ns/web: Scaled up',
  ])
})

test('of pods only warnings are told, and nothing that a newcomer need not know', () => {
  const warning = { type: 'Warning' }
  assert.deepEqual(textsOf([event('Pod', 'a', 'Pulled', 'Pulled')]), [])
  assert.deepEqual(textsOf([event('Service', 's', 'Whatever', 'x')]), [])
  assert.deepEqual(linesOf([event('Pod', 'a', 'Failed', 'bad image', warning)]), [
    { level: 'warning', text: 'pod ns/a: bad image' },
  ])
})

test('repeats are told at 2, 10, 100', () => {
  const told = [1, 2, 3, 9, 10, 11, 100].filter(
    (count) =>
      textsOf([event('Pod', 'a', 'BackOff', 'back-off', { type: 'Warning', count })]).length > 0,
  )
  assert.deepEqual(told, [1, 2, 10, 100])
})
