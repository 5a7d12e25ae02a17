import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Namespace } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import type { Outcome, Read, Write } from '@gyropilot/runtime'
import { drive, statusError } from '@gyropilot/runtime/testing'
import { discovered, terminating } from './fixtures.ts'
import { reconcile } from './reconcile.ts'

/** A server holding objects by resource; deleteCollection takes those without finalizers. */
function world(
  namespace: Namespace,
  given: {
    content?: Record<string, KubernetesObject[]>
    fail?: (call: Write | Read) => unknown
    nowMs?: number
    discovery?: Discovered
    /** Deletions are answered with a list of what was there. */
    answersLists?: boolean
    /** Where the server has not what was observed. */
    live?: Namespace
    pauseLeftMs?: number
    isLarge?: boolean
  } = {},
) {
  const content = given.content ?? {}
  const calls: string[] = []
  const written: Write[] = []
  let live = given.live ?? namespace
  const refused = (error: unknown): Outcome => ({ ok: false, error, attempted: true })
  const { pauseLeftMs = 0, isLarge = false } = given
  const driven = drive(reconcile({ namespace, pauseLeftMs, isLarge }), {
    nowMs: given.nowMs ?? Date.parse('2026-01-01T00:00:05Z'),
    onRead(read): Outcome {
      const what = read.verb === 'discover' ? '' : read.type.resource
      calls.push(`${read.verb} ${what}`.trim())
      const error = given.fail?.(read)
      if (error !== undefined) return refused(error)
      if (read.verb === 'discover') return answerOf(given.discovery ?? discovered())
      if (read.verb === 'get') return { ok: true, object: live }
      return { ok: true, object: { items: content[what] ?? [] } as KubernetesObject }
    },
    onWrite(write): Outcome {
      const subresource = 'subresource' in write && write.subresource ? `/${write.subresource}` : ''
      calls.push(`${write.verb} ${write.type.resource}${subresource}`)
      written.push(write)
      const error = given.fail?.(write)
      if (error !== undefined) return refused(error)
      if (write.verb === 'deleteCollection') {
        const { resource } = write.type
        const items = content[resource] ?? []
        content[resource] = (content[resource] ?? []).filter((o) => o.metadata?.finalizers?.length)
        return {
          ok: true,
          object: (given.answersLists ? { metadata: {}, items } : {}) as Namespace,
        }
      }
      if (write.verb === 'update') {
        const { metadata } = write.object
        const resourceVersion = String(Number(metadata?.resourceVersion) + 1)
        live = { ...(write.object as Namespace), metadata: { ...metadata, resourceVersion } }
      }
      return { ok: true, object: live }
    },
  })
  const statusWrites = written.filter((w) => w.verb === 'update' && w.subresource === 'status')
  const last = statusWrites.at(-1)
  const conditions =
    last?.verb === 'update' ? (last.object as Namespace).status?.conditions : undefined
  return { ...driven, calls, written, conditions }
}

const answerOf = (found: Discovered): Outcome => ({
  ok: true,
  object: found as unknown as KubernetesObject,
})

const held = (name: string, finalizer: string): KubernetesObject => ({
  metadata: { name, namespace: 'ns1', finalizers: [finalizer] },
})

test('Given an Active namespace, then no content calls', () => {
  const active: Namespace = { ...terminating(), metadata: { name: 'ns1', uid: 'uid-1' } }
  assert.deepEqual(world(active).calls, ['get namespaces'])
})

test('a namespace that is answered as it was before its deletion is asked for again', () => {
  const before: Namespace = { ...terminating(), metadata: { name: 'ns1', uid: 'uid-1' } }
  const { calls, result } = world(terminating(), { live: before })
  assert.deepEqual(calls, ['get namespaces'])
  assert.equal(errorText(result?.error), 'the server answered a namespace from before its deletion')
})

test('a namesake of a namespace that is gone is left alone', () => {
  const namesake: Namespace = { ...terminating(), metadata: { name: 'ns1', uid: 'uid-2' } }
  const { calls, result } = world(terminating(), { live: namesake })
  assert.deepEqual(calls, ['get namespaces'])
  assert.equal(result, undefined)
})

test('in its pause a large namespace loses its pods, and nothing else is looked at', () => {
  const pods = [held('a', 'example.com/hold'), { metadata: { name: 'b', namespace: 'ns1' } }]
  const { calls, result } = world(terminating(), {
    content: { pods },
    pauseLeftMs: 4_000,
    isLarge: true,
  })
  assert.deepEqual(calls, ['get namespaces', 'list pods', 'deleteCollection pods'])
  assert.deepEqual(result, { requeueAfterMs: 4_000, keepsFailures: true })
})

test('in its pause a small namespace causes no request', () => {
  const { calls, result } = world(terminating(), { pauseLeftMs: 4_000 })
  assert.deepEqual(calls, [])
  assert.deepEqual(result, { requeueAfterMs: 4_000, keepsFailures: true })
})

test('what fails in the pause is left to the pass behind it', () => {
  const fail = (call: Write | Read): unknown =>
    call.verb === 'get' ? undefined : statusError(500, 'InternalError')
  const { result } = world(terminating(), { fail, pauseLeftMs: 4_000, isLarge: true })
  assert.deepEqual(result, { requeueAfterMs: 4_000, keepsFailures: true })
})

test('no pod goes in the pause of a namespace whose deletion is not to be seen on the server', () => {
  const active: Namespace = { ...terminating(), metadata: { name: 'ns1', uid: 'uid-1' } }
  const { calls } = world(terminating(), { live: active, pauseLeftMs: 4_000, isLarge: true })
  assert.deepEqual(calls, ['get namespaces'])
})

test('what is left of the pause when the pods were asked to go is waited for, and no more', () => {
  for (const [tookMs, requeueAfterMs] of [
    [1_500, 2_500],
    [9_000, 0],
  ] as const) {
    let nowMs = 70_000
    const { result } = drive(
      reconcile({ namespace: terminating(), pauseLeftMs: 4_000, isLarge: true }),
      {
        elapsedMs: () => nowMs,
        onRead: ({ verb }) => ({
          ok: true,
          object: verb === 'get' ? terminating() : ({ items: [] } as KubernetesObject),
        }),
        onWrite() {
          nowMs += tookMs
          return undefined
        },
      },
    )
    assert.equal(result?.requeueAfterMs, requeueAfterMs, `${tookMs} ms`)
  }
})

test('Given empty `spec.finalizers`, then only one GET', () => {
  assert.deepEqual(world(terminating({ finalizers: [] })).calls, ['get namespaces'])
})

test('Given finalizers `kubernetes`,`other`, when finalized, then one call to `finalize` with only `other`', () => {
  const { written } = world(terminating({ finalizers: ['other', 'kubernetes', 'other'] }))
  const finalizes = written.filter((w) => w.verb === 'update' && w.subresource === 'finalize')
  assert.equal(finalizes.length, 1)
  const sent = finalizes[0]!.verb === 'update' ? (finalizes[0]!.object as Namespace) : undefined
  assert.deepEqual(sent?.spec?.finalizers, ['other'])
  assert.equal(sent?.metadata?.resourceVersion, '8', 'as the conditions were written')
})

test('Given a terminating namespace with `kubernetes`, when content is empty, then GET, LIST pods, status update, finalize, and DELETE+GET per resource', () => {
  const { calls, result } = world(terminating())
  assert.deepEqual(calls, [
    'get namespaces',
    'discover',
    'list pods',
    'deleteCollection pods',
    'list pods',
    'deleteCollection configmaps',
    'list configmaps',
    'deleteCollection deployments',
    'list deployments',
    'update namespaces/status',
    'update namespaces/finalize',
  ])
  assert.equal(result, undefined)
})

test('a phase that is not Terminating is set first', () => {
  const active = terminating({ phase: 'Active' })
  const { calls, written } = world(active)
  assert.deepEqual(calls.slice(0, 2), ['get namespaces', 'update namespaces/status'])
  const [first] = written
  assert.ok(first?.verb === 'update')
  assert.deepEqual(first.object, { ...active, status: { phase: 'Terminating' } })
})

test('a namespace keeps all else in each of its writes', () => {
  const kept = { type: 'Mine', status: 'True', reason: 'Of', message: 'somebody else' }
  const conditions = [{ ...kept, lastTransitionTime: '2025-01-01T00:00:00Z' }]
  const plain = terminating({ phase: 'Active', finalizers: ['kubernetes', 'other'], conditions })
  const namespace = {
    ...plain,
    metadata: { ...plain.metadata, labels: { team: 'x' } },
    spec: { ...plain.spec, more: 1 },
    status: { ...plain.status, more: 2 },
  } as Namespace
  const [phase, pass, release] = world(namespace).written.flatMap((write) =>
    write.verb === 'update' ? [write.object as Namespace] : [],
  )
  const at = (resourceVersion: string) => ({ ...namespace.metadata, resourceVersion })
  const status = { ...namespace.status, phase: 'Terminating' }
  assert.deepEqual(phase, { ...namespace, status })
  assert.deepEqual(pass, {
    ...namespace,
    metadata: at('8'),
    status: { ...status, conditions: pass?.status?.conditions },
  })
  assert.deepEqual(pass.status?.conditions?.[0], conditions[0])
  assert.deepEqual(release, {
    ...pass,
    metadata: at('9'),
    spec: { ...namespace.spec, finalizers: ['other'] },
  })
})

test('after a conflict the namespace is written as it is by then, and not if it is another one', () => {
  const tried = (uid: string) => {
    const writes: Namespace[] = []
    let reads = 0
    const { result } = drive(
      reconcile({ namespace: terminating({ phase: 'Active' }), pauseLeftMs: 0, isLarge: false }),
      {
        onRead(read): Outcome {
          if (read.verb === 'discover') return { ok: false, error: 'enough', attempted: true }
          const first = ++reads === 1
          const active = terminating({ phase: 'Active' })
          const metadata = { ...active.metadata, uid, resourceVersion: '70', labels: { a: 'b' } }
          return { ok: true, object: first ? active : { ...active, metadata } }
        },
        onWrite(write): Outcome {
          if (write.verb !== 'update') return { ok: false, error: 'enough', attempted: true }
          writes.push(write.object as Namespace)
          return writes.length === 1
            ? { ok: false, error: statusError(409, 'Conflict'), attempted: true }
            : { ok: true, object: write.object }
        },
      },
    )
    const versions = writes.slice(0, 2).map(({ metadata }) => metadata?.resourceVersion)
    return { versions, labels: writes[1]?.metadata?.labels, error: errorText(result?.error) }
  }
  const same = tried('uid-1')
  assert.deepEqual([same.versions, same.labels], [['7', '70'], { a: 'b' }])
  const other = tried('uid-2')
  assert.deepEqual(other.versions, ['7'])
  assert.equal(other.error, 'namespace uid has changed across retries')
})

test('a namespace that cannot be read or written is the error', () => {
  const refusal = statusError(500, 'InternalError', 'broken')
  const failing = (verb: string) =>
    errorText(
      world(terminating({ phase: 'Active' }), {
        fail: (call) => (call.verb === verb ? refusal : undefined),
      }).result?.error,
    )
  assert.deepEqual([failing('get'), failing('update')], ['broken', 'broken'])
})

test('a discovery that fails as a whole is a condition and the error', () => {
  const refusal = statusError(503, 'ServiceUnavailable', 'down')
  const { conditions, result } = world(terminating(), {
    fail: (call) => (call.verb === 'discover' ? refusal : undefined),
  })
  assert.deepEqual(
    [conditions?.[0]?.status, conditions?.[0]?.reason, conditions?.[0]?.message],
    ['True', 'DiscoveryFailed', 'down'],
  )
  assert.match(errorText(result?.error), /down/)
})

test('Given discovery error, then content calls happen, condition DiscoveryFailure is set, error returned, no finalize', () => {
  const failed = new Map([
    ['metrics.k8s.io/v1beta1', 'the server is currently unable to handle the request'],
  ])
  const { calls, conditions, result } = world(terminating(), {
    discovery: { ...discovered(), failed },
  })
  assert.ok(calls.includes('deleteCollection configmaps'))
  assert.ok(!calls.includes('update namespaces/finalize'))
  assert.match(
    errorText(result?.error),
    /unable to retrieve the complete list of server APIs: metrics/,
  )
  assert.deepEqual(
    conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['NamespaceDeletionDiscoveryFailure', 'True', 'DiscoveryFailed'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
      ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
      ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers'],
    ],
  )
})

test('Given a pod and a deployment with finalizer `custom.io/finalizer`, when deleted, then all five messages match: `Some resources are remaining: deployments.apps has 1 resource instances` and `... custom.io/finalizer in 1 resource instances`', () => {
  const { conditions, result } = world(terminating(), {
    content: { deployments: [held('d', 'custom.io/finalizer')] },
  })
  assert.deepEqual(
    conditions?.slice(3).map(({ message }) => message),
    [
      'Some resources are remaining: deployments.apps has 1 resource instances',
      'Some content in the namespace has finalizers remaining: custom.io/finalizer in 1 resource instances',
    ],
  )
  assert.deepEqual(result, { requeueAfterMs: 8_000, keepsFailures: true })
})

test('Given a pod with a finalizer and a config map, then the pod gets deletionTimestamp, the config map stays; after the finalizer is removed all goes', () => {
  const { calls, result, conditions } = world(terminating(), {
    content: { pods: [held('p', 'a.io/b')], configmaps: [held('c', 'x.io/y')] },
  })
  assert.ok(calls.includes('deleteCollection pods'))
  assert.ok(!calls.includes('deleteCollection configmaps'))
  assert.ok(conditions?.some(({ type }) => type === 'NamespaceDeletionContentFailure'))
  assert.deepEqual(result, { requeueAfterMs: 8_000, keepsFailures: true })
})

test('pods that have ended, which Jobs alone hold, do not keep the Jobs: these must go first', () => {
  const TRACKING = 'batch.kubernetes.io/job-tracking'
  const pod = (
    finalizers: readonly string[],
    deletionGracePeriodSeconds: number,
    given: { phase?: string; nodeName?: string } = { phase: 'Failed', nodeName: 'n1' },
  ): KubernetesObject => {
    const { phase, nodeName } = given
    const metadata = { name: 'p', finalizers, deletionGracePeriodSeconds }
    return { metadata, spec: { nodeName }, status: { phase } } as KubernetesObject
  }
  for (const [pods, goesOn] of [
    [[pod([TRACKING], 0)], true],
    [[pod([TRACKING], 0, { phase: 'Succeeded', nodeName: 'n1' })], true],
    [[pod([TRACKING], 0, { phase: 'Pending' })], true],
    [[pod([TRACKING], 0, { phase: 'Running', nodeName: 'n1' })], false],
    [[pod([TRACKING], 0, { phase: 'Pending', nodeName: 'n1' })], false],
    [[pod([TRACKING], 0), pod([TRACKING], 0, { phase: 'Running', nodeName: 'n1' })], false],
    [[pod([TRACKING], 30)], false],
    [[pod([TRACKING, 'a.io/b'], 0)], false],
    [[pod([TRACKING], 0), pod(['a.io/b'], 0)], false],
  ] as const) {
    const { calls, result, conditions } = world(terminating(), { content: { pods: [...pods] } })
    assert.equal(calls.includes('deleteCollection deployments'), goesOn, JSON.stringify(pods))
    const said = conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.message
    if (goesOn)
      assert.equal(
        said,
        `Some content in the namespace has finalizers remaining: ${TRACKING} in 1 resource instances`,
      )
    assert.deepEqual(result, { requeueAfterMs: 8_000, keepsFailures: true })
  }
})

test('without a look at the pods themselves they are taken to run', () => {
  const finalizers = ['batch.kubernetes.io/job-tracking']
  const pod = {
    metadata: { name: 'p', finalizers, deletionGracePeriodSeconds: 0 },
    status: { phase: 'Failed' },
  } as KubernetesObject
  let lists = 0
  const { calls } = world(terminating(), {
    content: { pods: [pod] },
    fail: (call) =>
      call.verb === 'list' && call.type.resource === 'pods' && ++lists === 3
        ? statusError(500, 'InternalError')
        : undefined,
  })
  assert.equal(lists, 3)
  assert.ok(!calls.includes('deleteCollection deployments'))
})

test('the estimate is the longest grace period of pods that still run, and half of it is waited', () => {
  const pod = (seconds: number, phase: string): KubernetesObject =>
    ({
      ...held(`p${seconds}`, 'a.io/b'),
      spec: { terminationGracePeriodSeconds: seconds },
      status: { phase },
    }) as KubernetesObject
  const pods = [pod(30, 'Running'), pod(600, 'Succeeded')]
  assert.equal(world(terminating(), { content: { pods } }).result?.requeueAfterMs, 16_000)
})

test('items that remain without finalizer and without estimate are an error', () => {
  const stuck = world(terminating(), {
    content: new Proxy(
      {},
      {
        get: (_, name) => (name === 'configmaps' ? [{ metadata: { name: 'c' } }] : []),
        set: () => true,
      },
    ),
  })
  const text = 'unexpected items still remain in namespace: ns1 for gvr: /v1, Resource=configmaps'
  assert.equal(errorText(stuck.result?.error), text)
  assert.equal(
    stuck.conditions?.[2]?.message,
    `Failed to delete all resource types, 1 remaining: ${text}`,
  )
})

test('Given 404 for a resource in ns1, then deletecollection, list, list; for ns2 deletecollection is tried again', () => {
  const gone = statusError(404, 'NotFound', 'the server could not find the requested resource')
  const fail = (call: Write | Read): unknown =>
    call.verb !== 'discover' && call.type.resource === 'configmaps' ? gone : undefined
  for (const round of ['ns1', 'ns2']) {
    const { calls } = world(terminating(), { fail })
    const ofConfigMaps = calls.filter((call) => call.endsWith('configmaps'))
    assert.deepEqual(
      ofConfigMaps,
      ['deleteCollection configmaps', 'list configmaps', 'list configmaps'],
      round,
    )
  }
})

test('Given a conflict on the first write, then a second try succeeds', () => {
  let conflicts = 0
  const { calls, result } = world(terminating(), {
    fail: (call) =>
      call.verb === 'update' && call.subresource === 'finalize' && conflicts++ === 0
        ? statusError(409, 'Conflict', 'the object has been modified')
        : undefined,
  })
  assert.deepEqual(calls.slice(-3), [
    'update namespaces/finalize',
    'get namespaces',
    'update namespaces/finalize',
  ])
  assert.equal(result, undefined)
})

test('a namesake with another uid never loses its finalizer', () => {
  const conflict = statusError(409, 'Conflict', 'the object has been modified')
  let reads = 0
  const driven = drive(reconcile({ namespace: terminating(), pauseLeftMs: 0, isLarge: false }), {
    onRead(read) {
      if (read.verb === 'discover') return answerOf(discovered())
      if (read.verb === 'list') return { ok: true, object: { items: [] } as KubernetesObject }
      const other = { ...terminating(), metadata: { ...terminating().metadata, uid: 'uid-2' } }
      return { ok: true, object: reads++ === 0 ? terminating() : other }
    },
    onWrite: (write) =>
      write.verb === 'update' && write.subresource === 'finalize'
        ? { ok: false, error: conflict, attempted: true }
        : undefined,
  })
  assert.match(errorText(driven.result?.error), /uid has changed/)
  assert.equal(
    driven.writes.filter((w) => w.verb === 'update' && w.subresource === 'finalize').length,
    1,
  )
})

test('Given no pods are left, then the other resources are worked off beside each other', () => {
  const { effects } = world(terminating(), { answersLists: true })
  const besides = effects.filter((effect) => effect.effect === 'beside')
  assert.deepEqual(
    besides.map(({ rules, atOnce }) => [rules.length, atOnce]),
    [
      [1, 8],
      [2, 8],
      [2, 40],
    ],
    'the only page of pods; the others deleted, and listed once more',
  )
})

test('resources of one name in two groups are deleted one right after the other', () => {
  const discovery = discovered()
  const deployments = discovery.resources.find(({ resource }) => resource === 'deployments')!
  const events = (group: string) => ({ ...deployments, group, resource: 'events' })
  const { calls } = world(terminating(), {
    discovery: {
      ...discovery,
      resources: [events(''), ...discovery.resources, events('events.k8s.io')],
    },
  })
  const deleted = calls.filter((call) => call.startsWith('deleteCollection'))
  assert.deepEqual(deleted, [
    'deleteCollection pods',
    'deleteCollection events',
    'deleteCollection events',
    'deleteCollection configmaps',
    'deleteCollection deployments',
  ])
})

test('what was empty is listed at the end, when all else was deleted, and what has come since is an error', () => {
  const content: Record<string, KubernetesObject[]> = { deployments: [{ metadata: { name: 'd' } }] }
  const { calls, result } = world(terminating(), {
    answersLists: true,
    content,
    fail(call) {
      const isLater = call.verb === 'list' && call.type.resource === 'deployments'
      if (isLater) content['configmaps'] = [{ metadata: { name: 'late' } }]
      return undefined
    },
  })
  const ofContent = calls.filter((call) => / (configmaps|deployments)$/.test(call))
  assert.deepEqual(ofContent, [
    'deleteCollection configmaps',
    'deleteCollection deployments',
    'list deployments',
    'list configmaps',
  ])
  const ofPods = calls.filter((call) => call.endsWith(' pods'))
  assert.deepEqual(calls.slice(2, 5), ofPods, 'these are not left for later')
  assert.match(errorText(result?.error), /unexpected items still remain .*Resource=configmaps/)
})

test('while pods remain nothing is said of what remains, and what failed is the error', () => {
  const failed = new Map([['m.io/v1', 'unavailable']])
  const { conditions, result, calls } = world(terminating(), {
    content: { pods: [held('p', 'a.io/b')] },
    discovery: { ...discovered(), failed },
  })
  assert.deepEqual(
    conditions?.map(({ status, reason }) => [status, reason]),
    [
      ['True', 'DiscoveryFailed'],
      ['False', 'ParsedGroupVersions'],
      ['False', 'ContentDeleted'],
      ['False', 'ContentRemoved'],
      ['False', 'ContentHasNoFinalizers'],
    ],
  )
  assert.match(errorText(result?.error), /m\.io\/v1: unavailable/)
  assert.ok(!calls.includes('deleteCollection configmaps'))
})
