import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllers, defaultControllersConfiguration, featureEnabled } from './index.ts'

test('names and aliases are unique', () => {
  const names = controllers.flatMap(({ name, aliases }) => [name, ...aliases])
  assert.equal(new Set(names).size, names.length)
})

test('gates that were not set are on', () => {
  assert.ok(featureEnabled(defaultControllersConfiguration, 'PodDeletionCost'))
  assert.ok(!featureEnabled({ featureGates: { PodDeletionCost: false } }, 'PodDeletionCost'))
})
