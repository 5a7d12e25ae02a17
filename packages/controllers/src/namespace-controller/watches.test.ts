import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Namespace, Pod, ResourceType } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { testClock, testContext } from '@gyropilot/runtime/testing'
import { terminating } from './fixtures.ts'
import { FINALIZER_ESTIMATE_SECONDS, QUEUE_NAME, defaultNamespaceConfiguration } from './config.ts'
import { DeletionPauses } from './deletion-pause.ts'
import { LASTING_CONTENT, lastOneWatch, namespaceWatch } from './watches.ts'
import { namespaceController } from './index.ts'

test('only namespaces that are being deleted are looked at: after a second first, five seconds after each other event', () => {
  const watch = namespaceWatch(300_000, new DeletionPauses(testClock()))
  const active = { metadata: { name: 'ns1' } }
  assert.deepEqual(watch.onAdd?.(active), [])
  assert.deepEqual(watch.onAdd?.(terminating()), [{ key: 'ns1', afterMs: 1_000 }])
  assert.deepEqual(watch.onUpdate?.(active, terminating()), [{ key: 'ns1', afterMs: 5_000 }])
  const namesake = { ...terminating(), metadata: { ...terminating().metadata, uid: 'uid-2' } }
  assert.deepEqual(watch.onUpdate?.(active, namesake), [{ key: 'ns1', afterMs: 1_000 }])
  assert.deepEqual(watch.onDelete?.(terminating()), [])
})

test('the pause of a namespace is forgotten with it', () => {
  for (const gone of [
    terminating(),
    new DeletedFinalStateUnknown<Namespace>('ns1', undefined),
  ] as const) {
    const pauses = new DeletionPauses(testClock())
    const watch = namespaceWatch(300_000, pauses)
    watch.onAdd?.(terminating())
    assert.equal(pauses.leftMs(terminating()), 5_000)
    assert.deepEqual(watch.onDelete?.(gone), [])
    assert.equal(pauses.leftMs(terminating()), 0)
  }
})

const waiting = terminating({
  conditions: [{ type: 'NamespaceContentRemaining', status: 'False' }],
})

/** Keys that the deletion of a pod adds, in a cluster of this namespace and of the pods that are left. */
function afterDeletion(
  gone: Pod | DeletedFinalStateUnknown<Pod>,
  namespace: Namespace | undefined,
  left: readonly Pod[] = [],
): readonly unknown[] {
  const { informers } = testContext({
    configuration: undefined,
    cached: [
      ...left,
      ...(namespace === undefined ? [] : [{ apiVersion: 'v1', kind: 'Namespace', ...namespace }]),
    ],
  })
  const listerOf = <T extends KubernetesObject>(type: ResourceType<T>) =>
    informers.informer(type).lister
  const watch = lastOneWatch(
    resources.pods,
    listerOf(resources.pods),
    listerOf(resources.namespaces),
  )
  return [...(watch.onDelete?.(gone) ?? [])]
}

const podIn = (namespace: string, name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name },
})

test('a namespace that waits is looked at when its last pod has gone, and not before', () => {
  const gone = podIn('ns1', 'a')
  const lost = new DeletedFinalStateUnknown<Pod>('ns1/a', undefined)
  assert.deepEqual(afterDeletion(gone, waiting), ['ns1'])
  assert.deepEqual(afterDeletion(lost, waiting), ['ns1'])
  assert.deepEqual(afterDeletion(gone, waiting, [podIn('ns1', 'b')]), [])
  assert.deepEqual(afterDeletion(gone, waiting, [podIn('ns2', 'b')]), ['ns1'])
})

test('one that does not wait is not: in its grace period, not deleted at all, or gone', () => {
  const gone = podIn('ns1', 'a')
  assert.deepEqual(afterDeletion(gone, terminating()), [])
  const { deletionTimestamp: _, ...metadata } = waiting.metadata!
  assert.deepEqual(afterDeletion(gone, { ...waiting, metadata }), [])
  assert.deepEqual(afterDeletion(gone, undefined), [])
  assert.deepEqual(afterDeletion(new DeletedFinalStateUnknown<Pod>('a', undefined), waiting), [])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = namespaceController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['namespace-controller', ['namespace'], 'namespace-controller', true],
  )
})

test('settings are those of the page', () => {
  assert.deepEqual(defaultNamespaceConfiguration, {
    concurrentNamespaceSyncs: 10,
    namespaceSyncPeriodMs: 300_000,
  })
  assert.deepEqual([QUEUE_NAME, FINALIZER_ESTIMATE_SECONDS], ['namespace', 15])
  assert.deepEqual(namespaceController.clientRate, { qpsFactor: 20, burstFactor: 100 })
  const { type, resyncPeriodMs } = namespaceWatch(7_000, new DeletionPauses(testClock()))
  assert.deepEqual([type, resyncPeriodMs], [resources.namespaces, 7_000])
})

test('the last pod, claim or service of a namespace is waited for, and read without its body', () => {
  assert.deepEqual(LASTING_CONTENT, [
    resources.pods,
    resources.persistentvolumeclaims,
    resources.services,
  ])
  const { informers } = testContext({ configuration: undefined })
  const { lister } = informers.informer(resources.namespaces)
  const watch = lastOneWatch(resources.services, lister, lister)
  assert.deepEqual([watch.type, watch.metadataOnly], [resources.services, true])
})
