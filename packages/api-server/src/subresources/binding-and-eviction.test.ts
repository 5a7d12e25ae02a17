import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PATCH, pod } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { SUCCESS, binding, inNamespace } from './fixtures.ts'

describe('binding', () => {
  test('sets the node, the condition, and what the Binding brings; the generation stays', async () => {
    const { server, call, ns, clock } = await inNamespace()
    await call('POST', '/api/v1/nodes', {
      metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z' } },
    })
    const before = await call('POST', `${ns}/pods`, pod('b1'))
    await clock.advance(5_000)
    const answer = await call(
      'POST',
      `${ns}/pods/b1/binding`,
      binding('b1', 'n1', { annotations: { x: 'y' }, labels: { l: 'm' } }),
    )
    assert.deepEqual([answer.status, answer.body], [201, SUCCESS])
    const { body } = await call('GET', `${ns}/pods/b1`)
    assert.equal(body.spec.nodeName, 'n1')
    assert.equal(body.metadata.annotations.x, 'y')
    assert.equal(body.metadata.labels.l, 'm')
    assert.equal(body.metadata.generation, before.body.metadata.generation)
    assert.deepEqual(body.status.conditions, [
      {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: '2026-11-21T00:00:05Z',
      },
    ])
    await server.stop()
  })

  test('Given a pod bound to n1, when bound again to n1, then 409 already assigned.', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('b1'))
    await call('POST', `${ns}/bindings`, binding('b1'))
    const { status, body } = await call('POST', `${ns}/pods/b1/binding`, binding('b1'))
    const why = 'pod b1 is already assigned to node "n1"'
    assert.deepEqual(
      [status, body.message],
      [409, `Operation cannot be fulfilled on pods/binding "b1": ${why}`],
    )
    await server.stop()
  })

  test('Given a gated pod, when bound, then 409 non-empty schedulingGates.', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('b2', { schedulingGates: [{ name: 'g' }] }))
    const { status, body } = await call('POST', `${ns}/pods/b2/binding`, binding('b2'))
    assert.equal(status, 409)
    assert.match(body.message, /pod b2 has non-empty .spec.schedulingGates$/)
    await server.stop()
  })

  for (const [title, body, status, message] of [
    ['another name', binding('other'), 400, 'name in URL does not match name in Binding object'],
    [
      'no node',
      { metadata: { name: 'p' }, target: { kind: 'Node' } },
      500,
      'target.name: Required value',
    ],
    [
      'not a node',
      { metadata: { name: 'p' }, target: { kind: 'Foo', name: 'n' } },
      500,
      'target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>"',
    ],
  ] as const) {
    test(`refuses ${title}`, async () => {
      const { server, call, ns } = await inNamespace()
      await call('POST', `${ns}/pods`, pod('p'))
      const answer = await call('POST', `${ns}/pods/p/binding`, body)
      assert.deepEqual([answer.status, answer.body.message], [status, message])
      await server.stop()
    })
  }

  test('uid and version of the Binding are preconditions', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('p'))
    const { status, body } = await call(
      'POST',
      `${ns}/pods/p/binding`,
      binding('p', 'n1', { uid: 'other' }),
    )
    assert.equal(status, 409)
    assert.match(body.message, /StorageError: invalid object, Code: 4.*UID in precondition: other/)
    await server.stop()
  })
})

describe('eviction', () => {
  const eviction = (name: string): Draft => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
  })
  const budgets = '/apis/policy/v1/namespaces/a/poddisruptionbudgets'

  async function runningPod(status?: Draft, name = 'x'): Promise<TestServer & { ns: string }> {
    const server = await inNamespace()
    const { call, ns } = server
    await call('POST', `${ns}/pods`, pod('a', { nodeName: 'n1' }, { labels: { app: 'a' } }))
    await call(
      'PATCH',
      `${ns}/pods/a/status`,
      { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      PATCH,
    )
    await call('POST', budgets, {
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
    })
    if (status !== undefined)
      await call(
        'PATCH',
        `${budgets}/${name}/status`,
        { status: { observedGeneration: 1, ...status } },
        PATCH,
      )
    return server
  }

  test('Given a fresh PDB and no disruption controller, when a running pod is evicted, then 429, Retry-After 10.', async () => {
    const { server, call, ns } = await runningPod()
    const { status, body, headers } = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    assert.deepEqual(
      [status, body.message, headers['retry-after']],
      [429, "Cannot evict pod as it would violate the pod's disruption budget.", '10'],
    )
    const cause = {
      reason: 'DisruptionBudget',
      message: 'The disruption budget x is still being processed by the server.',
    }
    assert.deepEqual(body.details, { causes: [cause], retryAfterSeconds: 10 })
    await server.stop()
  })

  test('Given disruptionsAllowed 1, when evicted, then 201; the PDB shows 0, disruptedPods[pod], condition DisruptionAllowed False InsufficientPods; the pod has condition DisruptionTarget and a deletionTimestamp.', async () => {
    const { server, call, ns, stored } = await runningPod({
      disruptionsAllowed: 1,
      currentHealthy: 1,
      desiredHealthy: 0,
      expectedPods: 1,
    })
    const dry = await call('POST', `${ns}/pods/a/eviction?dryRun=All`, eviction('a'))
    assert.equal(dry.status, 201)
    assert.equal(stored('poddisruptionbudgets.policy', 'a/x')!['status'].disruptionsAllowed, 1)
    const watched: Draft[] = []
    const watch = server.store.watch('pods', 'a/', server.store.revision, ({ object }) =>
      watched.push(object),
    )
    const answer = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    if (watch !== 'expired') watch.stop()
    assert.deepEqual([answer.status, answer.body], [201, SUCCESS])
    const { status } = stored('poddisruptionbudgets.policy', 'a/x')!
    assert.deepEqual([status.disruptionsAllowed, Object.keys(status.disruptedPods)], [0, ['a']])
    assert.deepEqual(
      [status.conditions[0].type, status.conditions[0].status, status.conditions[0].reason],
      ['DisruptionAllowed', 'False', 'InsufficientPods'],
    )
    const marked = watched[0]!['status'].conditions.find(
      ({ type }: Draft) => type === 'DisruptionTarget',
    )
    assert.deepEqual(
      [marked.status, marked.reason, marked.message],
      ['True', 'EvictionByEvictionAPI', 'Eviction API: evicting'],
    )
    assert.equal(
      watched[0]!['metadata'].deletionTimestamp,
      undefined,
      'the condition is a write of its own',
    )
    assert.ok(watched.length > 1)
    await server.stop()
  })

  for (const [title, status, cause] of [
    [
      'too few healthy',
      { currentHealthy: 1, desiredHealthy: 1 },
      'The disruption budget x needs 1 healthy pods and has 1 currently',
    ],
    [
      'failed sync',
      {
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message: 'oops',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
      'The disruption budget x does not allow evicting pods currently because it failed sync: oops',
    ],
    [
      'nothing known',
      { currentHealthy: 2, desiredHealthy: 1 },
      'The disruption budget x does not allow evicting pods currently',
    ],
  ] as const) {
    test(`refused without Retry-After: ${title}`, async () => {
      const { server, call, ns } = await runningPod({ disruptionsAllowed: 0, ...status })
      const answer = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
      assert.deepEqual(
        [answer.status, answer.body.details.causes[0].message, answer.headers['retry-after']],
        [429, cause, undefined],
      )
      await server.stop()
    })
  }

  test('an eviction may not break the cluster, whatever else is wrong with its options', async () => {
    const { server, call, ns } = await inNamespace()
    await call('POST', `${ns}/pods`, pod('a'))
    const option = 'ignoreStoreReadErrorWithClusterBreakingPotential'
    const deleteOptions = { [option]: true, propagationPolicy: 'x' }
    const answer = await call('POST', `${ns}/pods/a/eviction`, { ...eviction('a'), deleteOptions })
    assert.deepEqual(
      [answer.status, answer.body.message],
      [
        422,
        `Eviction.policy "a" is invalid: deleteOptions.${option}: Invalid value: true: can not be set for pod eviction, try after removing the option`,
      ],
    )
    const odd = { ...eviction('a'), deleteOptions: { kind: 5 } }
    const unread = await call('POST', `${ns}/pods/a/eviction`, odd)
    assert.equal(unread.status, 400)
    assert.match(
      unread.body.message,
      /number into Go struct field DeleteOptions\.deleteOptions\.TypeMeta\.kind of type string$/,
    )
    assert.equal((await call('GET', `${ns}/pods/a`)).status, 200)
    await server.stop()
  })

  test('Given a Pending pod and a PDB with 0 allowed, then eviction succeeds.', async () => {
    const { server, call, ns } = await runningPod({ disruptionsAllowed: 0 })
    await call('POST', `${ns}/pods`, pod('p', {}, { labels: { app: 'a' } }))
    await call('PATCH', `${ns}/pods/p/status`, { status: { phase: 'Pending' } }, PATCH)
    assert.equal((await call('POST', `${ns}/pods/p/eviction`, eviction('p'))).status, 201)
    await server.stop()
  })

  test('Given two matching PDBs, then 500.', async () => {
    const { server, call, ns } = await runningPod({ disruptionsAllowed: 1 })
    await call('POST', budgets, { metadata: { name: 'y' }, spec: { selector: {} } })
    const { status, body } = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    const message =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
    assert.deepEqual([status, body.message], [500, message])
    await server.stop()
  })

  test('an unready pod that changes while it is evicted is to be asked for again, unless a version was named', async () => {
    const { server, call, ns, stored } = await runningPod()
    await call(
      'PATCH',
      `${budgets}/x`,
      { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } },
      PATCH,
    )
    const unready = { status: { conditions: [{ type: 'Ready', status: 'False' }] } }
    await call('PATCH', `${ns}/pods/a/status`, unready, PATCH)
    const { resourceVersion } = stored('pods', 'a/a')!['metadata']
    const touch = (revision: number): Draft => {
      const { metadata, ...rest } = stored('pods', 'a/a')!
      return { ...rest, metadata: { ...metadata, resourceVersion: String(revision) } }
    }
    // Behind the mark on the pod, which is a write of its own.
    let isMarked = false
    const watch = server.store.watch('pods', 'a/', server.store.revision, () => {
      if (isMarked) return
      isMarked = true
      queueMicrotask(() => server.store.commit({ collection: 'pods', key: 'a/a' }, touch))
    })
    const { status, body, headers } = await call('POST', `${ns}/pods/a/eviction`, eviction('a'))
    if (watch !== 'expired') watch.stop()
    const message = 'The disruption budget x is still being processed by the server.'
    assert.deepEqual([status, headers['retry-after']], [429, '10'])
    assert.deepEqual(body.details, {
      causes: [{ reason: 'DisruptionBudget', message }],
      retryAfterSeconds: 10,
    })
    const deleteOptions = { preconditions: { resourceVersion } }
    const named = await call('POST', `${ns}/pods/a/eviction`, { ...eviction('a'), deleteOptions })
    assert.equal(named.status, 409)
    await server.stop()
  })

  test('an unready pod goes without the budget when enough others are healthy', async () => {
    const { server, call, ns } = await runningPod({
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
    })
    await call(
      'PATCH',
      `${ns}/pods/a/status`,
      { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
      PATCH,
    )
    assert.equal((await call('POST', `${ns}/pods/a/eviction`, eviction('a'))).status, 201)
    await server.stop()
  })
})
