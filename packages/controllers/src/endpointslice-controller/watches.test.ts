import assert from 'node:assert/strict'
import { test } from 'node:test'
import { node } from '../endpoint-support/fixtures.ts'
import { nodeWatch } from './watches.ts'
import { endpointSliceController } from './index.ts'

const before = node({ zone: 'a', cpu: '1' })
const updates: readonly (readonly [
  title: string,
  now: ReturnType<typeof node>,
  queued: boolean,
])[] = [
  ['readiness', node({ zone: 'a', cpu: '1', ready: false }), true],
  ['the zone', node({ zone: 'b', cpu: '1' }), true],
  ['CPU alone', node({ zone: 'a', cpu: '2' }), false],
  ['other labels', node({ zone: 'a', cpu: '1', labels: { x: 'y' } }), false],
]
for (const [title, now, queued] of updates) {
  test(`a node update concerns the zones or not: ${title}`, () => {
    assert.deepEqual([...nodeWatch.onUpdate!(before, now)], queued ? ['topology'] : [])
  })
}

test('added and deleted nodes concern the zones', () => {
  assert.deepEqual([...nodeWatch.onAdd!(before)], ['topology'])
  assert.deepEqual([...nodeWatch.onDelete!(before)], ['topology'])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = endpointSliceController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['endpointslice-controller', ['endpointslice'], 'endpointslice-controller', true],
  )
})
