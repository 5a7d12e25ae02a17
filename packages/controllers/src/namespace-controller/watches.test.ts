import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminating } from './fixtures.ts'
import { namespaceWatch } from './watches.ts'
import { namespaceController } from './index.ts'

test('only namespaces that are being deleted are looked at, five seconds after each event', () => {
  const watch = namespaceWatch(300_000)
  const active = { metadata: { name: 'ns1' } }
  const late = [{ key: 'ns1', afterMs: 5_000 }]
  assert.deepEqual(watch.onAdd?.(active), [])
  assert.deepEqual(watch.onAdd?.(terminating()), late)
  assert.deepEqual(watch.onUpdate?.(active, terminating()), late)
  assert.equal(watch.onDelete, undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = namespaceController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['namespace-controller', ['namespace'], 'namespace-controller', true],
  )
})
