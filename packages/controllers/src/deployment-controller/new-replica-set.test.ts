import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reconcile } from '@gyropilot/runtime'
import { refused, secondsAgo } from '../workload-support/fixtures.ts'
import { podTemplateHash } from '../workload-support/pod-template-hash.ts'
import { asServer, deployment, outcome, owned, rollout, sync, template } from './fixtures.ts'
import { findNewReplicaSet, replicaSetName, syncNewReplicaSet } from './new-replica-set.ts'

const REVISION = 'deployment.kubernetes.io/revision'
const hash = podTemplateHash(template('img:1'))
const web = deployment({ replicas: 3 })
const failing = (answer: ReturnType<typeof refused>) => ({
  onWrite: (write: { verb: string }) => (write.verb === 'create' ? answer : undefined),
})

test('Given no RS, when synced, then one RS of size R with revision 1 is created, followed by two status writes', () => {
  const driven = sync(web)
  assert.equal(driven.created.length, 1)
  assert.equal(driven.created[0]?.spec?.replicas, 3)
  assert.equal(driven.created[0]?.metadata?.annotations?.[REVISION], '1')
  assert.equal(driven.statusWrites.length, 2)
  assert.equal(driven.statusWrites[0]?.metadata?.annotations?.[REVISION], '1')
  const [condition] = driven.statusWrites[0]?.status?.conditions ?? []
  assert.deepEqual(
    [condition?.type, condition?.status, condition?.reason, condition?.message],
    ['Progressing', 'True', 'NewReplicaSetCreated', `Created new replica set "web-${hash}"`],
  )
  assert.deepEqual(driven.events, [
    {
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: `Scaled up replica set web-${hash} from 0 to 3`,
    },
  ])
})

test('the created ReplicaSet carries hash, owner, sizes and the annotations of the Deployment', () => {
  const annotated = deployment({
    replicas: 3,
    metadata: { annotations: { note: 'x' } },
    spec: { minReadySeconds: 5 },
  })
  assert.deepEqual(sync(annotated).created[0], {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${hash}`,
      namespace: 'ns',
      labels: { app: 'a', 'pod-template-hash': hash },
      annotations: {
        note: 'x',
        [REVISION]: '1',
        'deployment.kubernetes.io/desired-replicas': '3',
        'deployment.kubernetes.io/max-replicas': '4',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: 'web',
          uid: 'web-uid',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas: 3,
      minReadySeconds: 5,
      selector: { matchLabels: { app: 'a', 'pod-template-hash': hash } },
      template: {
        metadata: { labels: { app: 'a', 'pod-template-hash': hash } },
        spec: { containers: [{ name: 'c', image: 'img:1' }] },
      },
    },
  })
})

test('the revision follows that of an adopted ReplicaSet, beyond what a number holds exactly', () => {
  const adopted = owned(web, { image: 'old', replicas: 3, revision: '3546343826724305832' })
  const driven = sync(web, [adopted])
  const next = '3546343826724305833'
  assert.equal(driven.created[0]?.metadata?.annotations?.[REVISION], next)
  assert.equal(driven.statusWrites[0]?.metadata?.annotations?.[REVISION], next)
})

test('Rollover: a third template starts with 0 replicas when total is at the limit, without an event', () => {
  const old = owned(web, { name: 'old', image: 'img:0', replicas: 4, revision: '4' })
  const driven = sync(web, [old])
  assert.equal(driven.created[0]?.spec?.replicas, 0)
  assert.equal(driven.created[0]?.metadata?.annotations?.[REVISION], '5')
  assert.ok(!driven.messages.some((message) => message.includes('from 0 to 0')))
})

test('later writes of a sync carry the resourceVersion that earlier ones returned', () => {
  let version = 100
  const driven = sync(web, [], {
    onWrite(write) {
      if (write.verb !== 'update') return asServer(write)
      return {
        ok: true,
        object: {
          ...write.object,
          metadata: { ...write.object.metadata, resourceVersion: String(++version) },
        },
      }
    },
  })
  assert.deepEqual(
    driven.statusWrites.map(({ metadata }) => metadata?.resourceVersion),
    ['10', '101'],
  )
})

test('Two RSs with the same template: the oldest is the new RS, the other is old.', () => {
  const [younger, older] = [
    owned(web, { name: 'a', ageSeconds: 1 }),
    owned(web, { name: 'b', ageSeconds: 2 }),
  ]
  assert.equal(findNewReplicaSet(web, [younger, older]), older)
  const [second, first] = [owned(web, { name: 'b' }), owned(web, { name: 'a' })]
  assert.equal(findNewReplicaSet(web, [second, first]), first)
  assert.equal(findNewReplicaSet(web, [first, second]), first)
})

test('A template that returns to an older one reuses that RS: its revision rises, history annotation grows, no new RS.', () => {
  const first = owned(web, { name: 'first', image: 'img:1', revision: '1' })
  const second = owned(web, { name: 'second', image: 'img:2', revision: '2', replicas: 3 })
  const driven = sync(web, [first, second])
  assert.deepEqual(driven.created, [])
  const annotations = driven.replicaSetUpdates[0]?.metadata?.annotations
  assert.equal(annotations?.[REVISION], '3')
  assert.equal(annotations?.['deployment.kubernetes.io/revision-history'], '1')
})

test('after the last int64 comes the first, which raises no revision: the ReplicaSet is made without one', () => {
  const last = owned(web, { name: 'last', image: 'img:2', revision: '9223372036854775807' })
  const [created] = sync(web, [last]).created
  assert.equal(created?.metadata?.annotations?.[REVISION], undefined)
})

test('a revision grows to the last int64', () => {
  const half = owned(web, { name: 'half', image: 'img:2', revision: '4611686018427387903' })
  const [created] = sync(web, [half]).created
  assert.equal(created?.metadata?.annotations?.[REVISION], '4611686018427387904')
})

test('Desired/max are written on creation and on every scale of an RS, not when only annotations sync.', () => {
  const paused = deployment({
    replicas: 3,
    metadata: { annotations: { note: 'x' } },
    spec: { paused: true },
  })
  const driven = sync(paused, [owned(paused, { name: 'rs', replicas: 3, revision: '1' })])
  assert.deepEqual(driven.replicaSetUpdates[0]?.metadata?.annotations, {
    [REVISION]: '1',
    note: 'x',
  })
})

test('a different minReadySeconds is put right on the existing ReplicaSet', () => {
  const slow = deployment({ replicas: 3, spec: { minReadySeconds: 9 } })
  const driven = sync(slow, [owned(slow, { name: 'rs', replicas: 3, revision: '1' })])
  assert.equal(driven.replicaSetUpdates[0]?.spec?.minReadySeconds, 9)
})

test('an adopted ReplicaSet gives its revision to the Deployment and Progressing FoundNewReplicaSet', () => {
  const driven = outcome(
    (function* (): Reconcile {
      const working = rollout(
        web,
        undefined,
        owned(web, { name: 'rs', replicas: 3, revision: '4' }),
      )
      return (
        (yield* syncNewReplicaSet(working, {
          createMissing: true,
          cachedReplicaSet: () => undefined,
        })) ?? {}
      )
    })(),
  )
  const [written] = driven.statusWrites
  assert.equal(written?.metadata?.annotations?.[REVISION], '4')
  assert.deepEqual(written?.status?.conditions, [
    {
      type: 'Progressing',
      status: 'True',
      lastUpdateTime: secondsAgo(0),
      lastTransitionTime: secondsAgo(0),
      reason: 'FoundNewReplicaSet',
      message: 'Found new replica set "rs"',
    },
  ])
})

test('Given an edited RS template, then collisionCount 1 and the create error is returned for a retry', () => {
  const edited = owned(web, { name: `web-${hash}`, image: 'edited', revision: '1', replicas: 3 })
  const driven = sync(web, [edited], failing(refused(409, 'AlreadyExists', 'exists')))
  assert.equal(driven.statusWrites.length, 1)
  assert.equal(driven.statusWrites[0]?.status?.collisionCount, 1)
  assert.equal((driven.verdict.error as Error).message, 'exists')
  assert.deepEqual(driven.events, [])
})

test('Given an edited RS template, then collisionCount 1 and revision 2 on a new RS', () => {
  const collided = deployment({ replicas: 3, status: { collisionCount: 1 } })
  const edited = owned(collided, {
    name: `web-${hash}`,
    image: 'edited',
    revision: '1',
    replicas: 3,
  })
  const [created] = sync(collided, [edited]).created
  assert.notEqual(created?.metadata?.name, `web-${hash}`)
  assert.equal(created?.metadata?.annotations?.[REVISION], '2')
})

test('a ReplicaSet of a Deployment that had the name before is not used, though its template is the same', () => {
  const predecessor = { ...web, metadata: { ...web.metadata, uid: 'predecessor' } }
  const theirs = owned(predecessor, { name: `web-${hash}`, replicas: 3, revision: '1' })
  const refusal = failing(refused(409, 'AlreadyExists', 'exists'))
  const driven = sync(web, [], { ...refusal, cached: [theirs] })
  assert.equal((driven.verdict.error as Error).message, 'exists')
  assert.equal(driven.statusWrites[0]?.status?.collisionCount, 1)
  const next = deployment({ replicas: 3, status: driven.statusWrites[0]?.status })
  assert.notEqual(sync(next, [], { cached: [theirs] }).created[0]?.metadata?.name, `web-${hash}`)
})

test('a name taken by our own ReplicaSet of that template is used: no event, no condition', () => {
  const mine = owned(web, { name: `web-${hash}`, replicas: 3, revision: '1' })
  const driven = sync(web, [], { ...failing(refused(409, 'AlreadyExists')), cached: [mine] })
  assert.equal(driven.verdict.error, undefined)
  assert.deepEqual(driven.events, [])
  assert.equal(driven.statusWrites[0]?.metadata?.annotations?.[REVISION], '1')
  assert.equal(driven.statusWrites[0]?.status?.conditions, undefined)
})

test('a name that is taken by something the cache does not have returns an error', () => {
  const driven = sync(web, [], failing(refused(409, 'AlreadyExists', 'exists')))
  assert.deepEqual(driven.statusWrites, [])
  assert.ok(driven.verdict.error instanceof Error)
})

test('cause NamespaceTerminating: no condition, no event, and the key is forgotten', () => {
  const driven = sync(web, [], failing(refused(403, 'Forbidden', 'going', 'NamespaceTerminating')))
  assert.deepEqual([driven.statusWrites, driven.events, driven.verdict], [[], [], {}])
})

test('another create error is Progressing False/ReplicaSetCreateError and an event', () => {
  const driven = sync(web, [], failing(refused(422, 'Invalid', 'bad')))
  const message = `Failed to create new replica set "web-${hash}": bad`
  assert.deepEqual(driven.events, [{ type: 'Warning', reason: 'ReplicaSetCreateError', message }])
  const [condition] = driven.statusWrites[0]?.status?.conditions ?? []
  assert.deepEqual(
    [condition?.status, condition?.reason, condition?.message],
    ['False', 'ReplicaSetCreateError', message],
  )
  assert.equal((driven.verdict.error as Error).message, 'bad')
})

test('without a progress deadline a ReplicaSet that is found or created is no condition', () => {
  const endless = deployment({ spec: { progressDeadlineSeconds: undefined } })
  for (const replicaSets of [[], [owned(endless, { name: 'rs', replicas: 3, revision: '1' })]]) {
    const { statusWrites } = sync(endless, replicaSets)
    const types = statusWrites.map(({ status }) => status?.conditions?.map(({ type }) => type))
    assert.deepEqual(types, [undefined, ['Available']])
  }
})

test('a creation that is noted already is not noted again', () => {
  const conditions = [
    {
      type: 'Progressing',
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: 'm',
      lastUpdateTime: secondsAgo(1),
      lastTransitionTime: secondsAgo(1),
    },
  ] as const
  const noted = deployment({
    metadata: { annotations: { [REVISION]: '1' } },
    status: { conditions },
  })
  const driven = sync(noted)
  assert.deepEqual([driven.created.length, driven.statusWrites.length], [1, 1])
})

test('a ReplicaSet whose annotations were put right is scaled as the server has it now', () => {
  const driven = sync(web, [owned(web, { name: 'rs', replicas: 1 })], {
    onWrite: (write) =>
      write.verb === 'update' && write.subresource === undefined
        ? {
            ok: true,
            object: {
              ...write.object,
              metadata: { ...write.object.metadata, resourceVersion: '77' },
            },
          }
        : undefined,
  })
  assert.deepEqual(
    driven.replicaSetUpdates.map(({ metadata, spec }) => [
      metadata?.resourceVersion,
      spec?.replicas,
    ]),
    [
      ['10', 1],
      ['77', 3],
    ],
  )
})

test('without a progress deadline a create error writes no condition', () => {
  const driven = sync(
    deployment({ spec: { progressDeadlineSeconds: undefined } }),
    [],
    failing(refused(422, 'Invalid')),
  )
  assert.deepEqual([driven.statusWrites.length, driven.events.length], [0, 1])
})

test('the name is cut so that the result is at most 253 characters', () => {
  const name = replicaSetName('a'.repeat(253), '75c6699794')
  assert.equal(name.length, 253)
  assert.ok(name.endsWith('a-75c6699794'))
})
