import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { LiveWorld } from './testing/live-world.ts'
import {
  absentRef,
  configMap,
  existing,
  metadata,
  refTo,
  refToMap,
  started,
} from './testing/owners.ts'

const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}

async function defineWidgets(world: LiveWorld) {
  const { group, version, resource, kind } = WIDGETS
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const definition = await world.create(resources.customresourcedefinitions, {
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      names: { plural: resource, singular: 'widget', kind },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  })
  await world.clock.advance(31_000)
  return definition
}

const widget = (...given: Parameters<typeof metadata>): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: metadata(...given),
})

test('Given custom resources as owner and dependent of each other and of core objects, then cascading works', async (t) => {
  const world = await started(t)
  await defineWidgets(world)
  const top = await world.create(resources.configmaps, configMap('top'))
  const one = await world.create(WIDGETS, widget('one', [refToMap(top)]))
  const two = await world.create(WIDGETS, widget('two', [refTo(WIDGETS, one)]))
  const leaf = await world.create(resources.configmaps, configMap('leaf', [refTo(WIDGETS, two)]))
  await world.clock.advance(1_000)
  await world.delete(resources.configmaps, top)
  await world.clock.advance(5_000)
  assert.deepEqual(await existing(world, WIDGETS, [one, two]), [])
  assert.equal(await world.find(resources.configmaps, leaf), undefined)
})

test('custom resources are orphaned and lose dangling references by a JSON merge patch', async (t) => {
  const world = await started(t)
  await defineWidgets(world)
  const going = await world.create(resources.configmaps, configMap('going'))
  const solid = await world.create(resources.configmaps, configMap('solid'))
  const owners = [refToMap(going), refToMap(solid)]
  const kept = await world.create(WIDGETS, widget('kept', owners))
  await world.clock.advance(1_000)
  await world.delete(resources.configmaps, going, 'Orphan')
  await world.clock.advance(5_000)
  assert.equal(await world.find(resources.configmaps, going), undefined)
  assert.deepEqual((await world.find(WIDGETS, kept))?.metadata?.ownerReferences, [refToMap(solid)])
  assert.ok(world.writes().includes('patch widgets -> 415'))
  const dangling = await world.create(
    WIDGETS,
    widget('dangling', [absentRef('x'), refToMap(solid)]),
  )
  await world.clock.advance(5_000)
  const left = await world.find(WIDGETS, dangling)
  assert.deepEqual(left?.metadata?.ownerReferences, [refToMap(solid)])
})

test('what was seen in a version that is served no more is collected and released in another one', async (t) => {
  const world = await started(t)
  const definition = await defineWidgets(world)
  const going = await world.create(resources.configmaps, configMap('going'))
  const dependent = await world.create(WIDGETS, widget('dependent', [refToMap(going)]))
  const owner = await world.create(WIDGETS, widget('owner'))
  const left = await world.create(resources.configmaps, configMap('left', [refToMap(going)]))
  await world.create(resources.configmaps, configMap('child', [refTo(WIDGETS, owner)]))
  await world.clock.advance(1_000)
  const { spec, metadata: known } = definition as typeof definition & {
    spec: { versions: readonly object[] }
  }
  const former = { ...spec.versions[0], served: false, storage: false }
  const versions = [former, { ...spec.versions[0], name: 'v2' }]
  const patch = { type: 'merge', value: { spec: { versions } } } as const
  await world.client.resource(resources.customresourcedefinitions).patch(known!.name!, patch)
  await world.clock.advance(31_000)
  const later = { ...WIDGETS, version: 'v2' }
  await world.delete(resources.configmaps, going)
  await world.delete(later, owner, 'Foreground')
  await world.clock.advance(10_000)
  assert.deepEqual(await existing(world, later, [dependent, owner]), [])
  assert.equal(await world.find(resources.configmaps, left), undefined)
})

test('Given a CRD that is deleted, then its instances’ dependents go (TestCRDDeletionCascading)', async (t) => {
  const world = await started(t)
  const definition = await defineWidgets(world)
  const owner = await world.create(WIDGETS, widget('owner'))
  const child = await world.create(
    resources.configmaps,
    configMap('child', [refTo(WIDGETS, owner)]),
  )
  await world.clock.advance(1_000)
  await world.delete(resources.customresourcedefinitions, definition)
  await world.clock.advance(60_000)
  assert.equal(await world.find(resources.customresourcedefinitions, definition), undefined)
  assert.equal(await world.find(resources.configmaps, child), undefined)
})
