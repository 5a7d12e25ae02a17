import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { DiscoveredResource, ResourceType } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import {
  UNCOLLECTED_RESOURCES,
  resourceId,
  resourcesWithVerbs,
  sameResources,
  withKeptResources,
  withoutResources,
} from './monitored-resources.ts'

const { pods, deployments, configmaps } = resources
const events: ResourceType = { ...pods, resource: 'events', kind: 'Event' }
const mapOf = (...types: readonly ResourceType[]) =>
  new Map(types.map((type) => [resourceId(type), type]))

function discovered(
  served: readonly (readonly [ResourceType, readonly string[]])[],
  failed: readonly string[] = [],
): Discovered {
  const versions = new Map<string, readonly string[]>()
  for (const [{ group, version }] of served) versions.set(group, [version])
  return {
    resources: served.map(
      ([{ group, version, resource, kind, namespaced }, verbs]): DiscoveredResource => ({
        group,
        version,
        resource,
        kind,
        namespaced,
        singular: '',
        shortNames: [],
        categories: [],
        subresources: [],
        verbs,
      }),
    ),
    versions,
    failed: new Map(failed.map((version) => [version, 'no answer'])),
  }
}
const ALL = ['delete', 'list', 'watch']

test('a resource is known by group, version and plural', () => {
  assert.deepEqual([pods, deployments].map(resourceId), ['v1/pods', 'apps/v1/deployments'])
})

test('what has all the verbs is monitored, but for group versions that did not answer', () => {
  const served = [
    [pods, ALL],
    [configmaps, ['list', 'watch']],
    [deployments, ALL],
  ] as const
  const found = (...failed: readonly string[]) => [
    ...resourcesWithVerbs(discovered(served, failed), ALL).keys(),
  ]
  assert.deepEqual(found().toSorted(), ['apps/v1/deployments', 'v1/pods'])
  assert.deepEqual(found('apps/v1'), ['v1/pods'])
})

test('what was monitored stays while its group version does not answer, where that is wanted', () => {
  const accepted = mapOf(pods, deployments)
  const silent = discovered([], ['apps/v1'])
  assert.deepEqual(
    withKeptResources(mapOf(configmaps), silent, accepted),
    mapOf(configmaps, deployments),
  )
  assert.deepEqual(
    withKeptResources(mapOf(configmaps), silent, accepted, () => false),
    mapOf(configmaps),
  )
  assert.deepEqual(
    withKeptResources(mapOf(configmaps), discovered([]), accepted),
    mapOf(configmaps),
  )
})

test('ignored resources are left out by plural and group; events are', () => {
  assert.deepEqual(
    withoutResources(mapOf(pods, deployments), new Set(['deployments.apps'])),
    mapOf(pods),
  )
  const eventsOfGroup = { ...events, group: 'events.k8s.io' }
  const all = mapOf(events, eventsOfGroup, pods)
  assert.deepEqual(withoutResources(all, UNCOLLECTED_RESOURCES), mapOf(pods))
})

test('resources are the same by what they are', () => {
  assert.ok(sameResources(mapOf(pods, deployments), mapOf(deployments, { ...pods })))
  assert.ok(!sameResources(mapOf(pods), mapOf(pods, deployments)))
  assert.ok(!sameResources(mapOf(pods, deployments), mapOf(pods)))
  assert.ok(!sameResources(mapOf(pods, configmaps), mapOf(pods, deployments)))
  assert.ok(!sameResources(mapOf(pods), mapOf({ ...pods, kind: 'Capsule' })))
})
