/** The plain pattern: docs/behaviour/runtime/custom-controllers.md, Part 1, as one writes it with runKeyedController. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, KubernetesObject, OwnerReference, ResourceType } from '@gyropilot/api'
import {
  controllerOf,
  isControlledBy,
  keyOf,
  newControllerRef,
  resources,
  splitKey,
} from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { ControllerContext, KeyedController, Watch } from './controller.ts'
import { defineResource } from './custom-resources/define-resource.ts'
import { recordEvent, write } from './effects.ts'
import { create, update, updateStatus } from './writes.ts'
import type { Reconcile } from './effects.ts'
import { DeletedFinalStateUnknown } from './informer.ts'
import { runKeyedController } from './keyed-controller.ts'
import { testContext } from './testing/index.ts'
import {
  BucketRateLimiter,
  ExponentialRateLimiter,
  MaxOfRateLimiter,
} from './workqueue/rate-limiters.ts'

interface Foo extends KubernetesObject {
  readonly spec: { readonly deploymentName?: string; readonly replicas?: number }
  readonly status?: { readonly availableReplicas?: number }
}

const foos = defineResource<Foo>({
  group: 'samplecontroller.k8s.io',
  version: 'v1alpha1',
  kind: 'Foo',
})

interface Observed {
  readonly foo: Foo
  readonly deployment: Deployment | undefined
}

function sampleController(context: ControllerContext): KeyedController<Observed> {
  const fooLister = context.informers.informer(foos).lister
  const deploymentLister = context.informers.informer(resources.deployments).lister
  return {
    queueName: 'Foos',
    workers: 2,
    eventComponent: 'sample-controller',
    rateLimiter: sampleRateLimiter(context.clock),
    watches: [
      { type: foos, onAdd: (foo) => [keyOf(foo)], onUpdate: (_, foo) => [keyOf(foo)] },
      ownedDeployments((namespace, name) => fooLister.get(namespace, name)),
    ] as readonly Watch[],
    observe(key) {
      const { namespace, name } = splitKey(key)
      const foo = fooLister.get(namespace, name)
      if (foo === undefined) return undefined
      const { deploymentName = '' } = foo.spec
      return { foo, deployment: deploymentLister.get(namespace, deploymentName) }
    },
    reconcile: reconcileFoo,
  }
}

function sampleRateLimiter(clock: Clock): MaxOfRateLimiter {
  return new MaxOfRateLimiter(
    new ExponentialRateLimiter(5, 1000_000),
    new BucketRateLimiter(clock, 50, 300),
  )
}

function ownedDeployments(
  fooOf: (namespace: string | undefined, name: string) => Foo | undefined,
): Watch<Deployment> {
  const owners = (object: Deployment | DeletedFinalStateUnknown<Deployment>): string[] => {
    if (object instanceof DeletedFinalStateUnknown) return []
    const owner = controllerOf(object)
    if (owner?.kind !== 'Foo') return []
    const foo = fooOf(object.metadata?.namespace, owner.name)
    return foo === undefined ? [] : [keyOf(foo)]
  }
  return {
    type: resources.deployments,
    onAdd: owners,
    onUpdate: (previous, current) =>
      previous.metadata?.resourceVersion === current.metadata?.resourceVersion
        ? []
        : owners(current),
    onDelete: owners,
  }
}

function* reconcileFoo({ foo, deployment }: Observed): Reconcile {
  const { deploymentName = '', replicas } = foo.spec
  // A retry cannot help.
  if (deploymentName === '') return
  let current = deployment
  if (current === undefined) {
    const created = yield* write(create(resources.deployments, deploymentFor(foo)))
    if (!created.ok) return { error: created.error }
    current = created.object
  }
  if (!isControlledBy(current, foo)) {
    const message = `Resource "${deploymentName}" already exists and is not managed by Foo`
    yield* recordEvent(foo, 'Warning', 'ErrResourceExists', message)
    return { error: new Error(message) }
  }
  if (replicas !== undefined && replicas !== current.spec?.replicas) {
    const updated = yield* write(update(resources.deployments, deploymentFor(foo)))
    if (!updated.ok) return { error: updated.error }
    current = updated.object
  }
  const availableReplicas = current.status?.availableReplicas ?? 0
  const reported = yield* write(updateStatus(foos, { ...foo, status: { availableReplicas } }))
  if (!reported.ok) return { error: reported.error }
  yield* recordEvent(foo, 'Normal', 'Synced', 'Foo synced successfully')
  return undefined
}

function deploymentFor(foo: Foo): Deployment {
  const labels = { app: 'nginx', controller: foo.metadata?.name ?? '' }
  return {
    metadata: {
      namespace: foo.metadata?.namespace,
      name: foo.spec.deploymentName,
      ownerReferences: [newControllerRef(foo, foos)],
    },
    spec: {
      replicas: foo.spec.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] },
      },
    },
  }
}

const foo = (name = 'test', replicas = 1): Foo => ({
  apiVersion: 'samplecontroller.k8s.io/v1alpha1',
  kind: 'Foo',
  metadata: { namespace: 'default', name, uid: `uid-of-${name}` },
  spec: { deploymentName: `${name}-deployment`, replicas },
})

const existing = (of: Foo, ownerReferences?: OwnerReference[]): Deployment => {
  const wanted = deploymentFor(of)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    ...wanted,
    metadata: {
      ...wanted.metadata,
      resourceVersion: '1',
      ...(ownerReferences && { ownerReferences }),
    },
    status: { availableReplicas: 1 },
  }
}

/** Caches filled by hand, one sync, and what it wrote and recorded. */
async function synced(...cached: readonly KubernetesObject[]) {
  const context = testContext({ name: 'sample-controller', configuration: undefined, cached })
  for (const object of cached) {
    const type: ResourceType = object.kind === 'Foo' ? foos : resources.deployments
    context.client.put(type, object)
  }
  context.client.withStatusSubresource = [foos, resources.deployments]
  const stop = new AbortController()
  const running = runKeyedController(sampleController(context), context).run(stop.signal)
  await context.clock.advance(0)
  const writes = (): string[] =>
    context.client.requests.map(
      ({ verb, path, options }) =>
        `${verb} ${path.split('/').slice(-2).join('/')}${options['subresource'] ? '/status' : ''}`,
    )
  return {
    context,
    writes,
    fooStatus: () => (context.client.get(foos, 'default', 'test') as Foo).status,
    deployment: () =>
      context.client.get(resources.deployments, 'default', 'test-deployment') as Deployment,
    events: () =>
      context.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`),
    async stop() {
      stop.abort()
      await context.clock.advance(0)
      await running
    },
  }
}

const SYNCED = 'Normal Synced: Foo synced successfully'

test('Given a Foo without Deployment, when synced, then Deployment created with controller reference and status updated', async () => {
  const { writes, deployment, fooStatus, events, context, stop } = await synced(foo())
  assert.deepEqual(writes(), ['create deployments/test-deployment', 'update foos/test/status'])
  assert.deepEqual(controllerOf(deployment()), {
    apiVersion: 'samplecontroller.k8s.io/v1alpha1',
    kind: 'Foo',
    name: 'test',
    uid: 'uid-of-test',
    controller: true,
    blockOwnerDeletion: true,
  })
  assert.equal(deployment().spec?.replicas, 1)
  assert.deepEqual(fooStatus(), { availableReplicas: 0 })
  assert.deepEqual(events(), [SYNCED])
  assert.equal(context.events[0]?.component, 'sample-controller')
  await stop()
})

test('Given all equal, then only a status update', async () => {
  const { writes, fooStatus, events, stop } = await synced(foo(), existing(foo()))
  assert.deepEqual(writes(), ['update foos/test/status'])
  assert.deepEqual(fooStatus(), { availableReplicas: 1 })
  assert.deepEqual(events(), [SYNCED])
  await stop()
})

test('Given other replicas, then Deployment updated', async () => {
  const { writes, deployment, context, stop } = await synced(foo('test', 2), existing(foo()))
  assert.deepEqual(writes(), ['update deployments/test-deployment', 'update foos/test/status'])
  assert.equal(deployment().spec?.replicas, 2)
  const [{ body } = { body: {} }] = context.client.requests
  const sent = body as Deployment
  assert.equal(sent.metadata?.resourceVersion, undefined, 'unconditional, built anew from the Foo')
  await stop()
})

test('Given a Deployment of the same name without the reference, then error and no write', async () => {
  const { writes, events, context, stop } = await synced(foo(), existing(foo(), []))
  assert.deepEqual(writes(), [])
  const message = 'Resource "test-deployment" already exists and is not managed by Foo'
  assert.deepEqual(events(), [`Warning ErrResourceExists: ${message}`])
  assert.equal(context.metrics.value('workqueue_retries_total', { name: 'Foos' }), 1)
  await context.clock.advance(5)
  assert.equal(events().length, 2, 'tried again after 5 ms')
  await stop()
})

test('a reference of the same kind and name with another uid does not count as ours', async () => {
  const other = newControllerRef(foo('other'), foos)
  const { writes, stop } = await synced(foo(), existing(foo(), [{ ...other, name: 'test' }]))
  assert.deepEqual(writes(), [])
  await stop()
})

test('a Foo that is gone, or that has no deploymentName, is a success without writes', async () => {
  const { writes, events, context, stop } = await synced({ ...foo(), spec: {} } as Foo)
  context.informers.remove(foos, foo())
  await context.clock.advance(60_000)
  assert.deepEqual([writes(), events()], [[], []])
  assert.equal(context.metrics.value('workqueue_retries_total', { name: 'Foos' }), 0)
  await stop()
})

test('Deployments lead to their Foo: adds, real updates and deletions; resyncs, strangers and orphans do not', async () => {
  const watch = ownedDeployments((_, name) => (name === 'test' ? foo() : undefined))
  const owned = existing(foo())
  const changed = { ...owned, metadata: { ...owned.metadata, resourceVersion: '2' } }
  assert.deepEqual([...watch.onAdd!(owned)], ['default/test'])
  assert.deepEqual([...watch.onUpdate!(owned, changed)], ['default/test'])
  assert.deepEqual([...watch.onUpdate!(owned, owned)], [])
  assert.deepEqual([...watch.onDelete!(owned)], ['default/test'])
  assert.deepEqual([...watch.onAdd!(existing(foo('missing')))], [], 'its Foo does not exist')
  const stranger = { ...newControllerRef(foo(), foos), kind: 'Bar' }
  assert.deepEqual([...watch.onAdd!(existing(foo(), [stranger]))], [])
})

test('a tombstone is unwrapped before the handler sees it; a deleted Foo has no handler', async () => {
  const { context, writes, stop } = await synced(foo(), existing(foo()))
  const before = writes().length
  context.informers.remove(foos, foo('unrelated'))
  await context.clock.advance(0)
  assert.equal(writes().length, before)
  context.informers.remove(
    resources.deployments,
    new DeletedFinalStateUnknown('default/test-deployment', existing(foo())),
  )
  await context.clock.advance(0)
  assert.ok(writes().length > before)
  await stop()
})

test('the limiter is 5 ms..1000 s per key and 50 a second with a burst of 300 over all', async () => {
  const { context, stop } = await synced()
  const limiter = sampleRateLimiter(context.clock)
  const waits = Array.from({ length: 302 }, (_, i) => limiter.whenMs(`k${i}`))
  assert.equal(waits[0], 5)
  assert.equal(waits[299], 5)
  assert.equal(waits[300], 20)
  assert.equal(waits[301], 40)
  await stop()
})
