import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, ReplicaSet } from '@gyropilot/api'
import { refused } from '../workload-support/fixtures.ts'
import { podTemplateHash } from '../workload-support/pod-template-hash.ts'
import { deployment, outcome, owned, rollout, sizes, sync, template } from './fixtures.ts'
import { notePause } from './progress.ts'
import { scaleAndAnnotate } from './scale.ts'

// A PUT takes away whatever it does not carry: each write is compared as a whole.

const REVISION = 'deployment.kubernetes.io/revision'
const foreign = { type: 'Mine', status: 'True', reason: 'Of', message: 'somebody else' } as const
const status = { replicas: 3, collisionCount: 4, conditions: [foreign] }
const selector = {
  matchLabels: { app: 'a' },
  matchExpressions: [{ key: 'app', operator: 'Exists' }],
}
const labels = { team: 'x' }

test('a created ReplicaSet has all of the selector and of the metadata of the template', () => {
  const { spec } = template('img:1')
  const annotated = { metadata: { labels: { app: 'a' }, annotations: { note: 'x' } }, spec }
  const [created] = sync(deployment({ template: annotated, spec: { selector } })).created
  const hash = podTemplateHash(annotated)
  assert.deepEqual(created?.spec?.selector, {
    ...selector,
    matchLabels: { app: 'a', 'pod-template-hash': hash },
  })
  assert.deepEqual(created?.spec?.template, {
    metadata: {
      labels: { app: 'a', 'pod-template-hash': hash },
      annotations: { note: 'x' },
    },
    spec,
  })
})

test('a ReplicaSet whose annotations or minReadySeconds are put right keeps all else', () => {
  const web = deployment({ replicas: 3, spec: { minReadySeconds: 9 } })
  const existing = owned(web, { name: 'rs', replicas: 3, annotations: { own: 'y' } })
  const [written] = sync(web, [existing]).replicaSetUpdates
  assert.deepEqual(written, {
    ...existing,
    metadata: { ...existing.metadata, annotations: { own: 'y', [REVISION]: '1' } },
    spec: { ...existing.spec, minReadySeconds: 9 },
  })
})

test('a scaled ReplicaSet keeps all but its size and the sizes noted on it, and the event is Normal', () => {
  const web = deployment({ replicas: 3, strategy: { type: 'Recreate' } })
  const existing = owned(web, { name: 'rs', replicas: 1, annotations: { own: 'y' } })
  const driven = outcome(
    (function* () {
      yield* scaleAndAnnotate(rollout(web, existing), existing, 3)
    })(),
  )
  const expected: ReplicaSet = {
    ...existing,
    metadata: { ...existing.metadata, annotations: { own: 'y', ...sizes(3, 3) } },
    spec: { ...existing.spec!, replicas: 3 },
  }
  assert.deepEqual(driven.replicaSetUpdates, [expected])
  assert.deepEqual(driven.events, [
    {
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message: 'Scaled up replica set rs from 1 to 3',
    },
  ])
})

test('one pod more is told of as well when a ReplicaSet is created', () => {
  const { messages } = sync(deployment({ replicas: 1 }))
  assert.deepEqual(messages, [
    `Scaled up replica set web-${podTemplateHash(template('img:1'))} from 0 to 1`,
  ])
})

test('a Deployment keeps its other annotations and its status when the revision and Progressing are noted', () => {
  const web = deployment({ metadata: { annotations: { note: 'x' }, labels }, status })
  const [written] = sync(web).statusWrites
  assert.deepEqual(written?.metadata, {
    ...web.metadata,
    annotations: { note: 'x', [REVISION]: '1' },
  })
  const { conditions, ...counters } = written.status ?? {}
  assert.deepEqual(counters, { replicas: 3, collisionCount: 4 })
  assert.deepEqual(
    conditions?.map(({ type }) => type),
    ['Mine', 'Progressing'],
  )
})

test('a Deployment keeps its status when a collision is counted', () => {
  const web = deployment({ status })
  const { statusWrites } = sync(web, [], {
    cached: [owned(web, { name: `web-${podTemplateHash(template('img:1'), 4)}`, image: 'other' })],
    onWrite: (write) => (write.verb === 'create' ? refused(409, 'AlreadyExists') : undefined),
  })
  assert.deepEqual(statusWrites, [{ ...web, status: { ...status, collisionCount: 5 } }])
})

test('a Deployment keeps its status when it selects everything', () => {
  const web = deployment({ spec: { selector: {} }, status })
  const expected: Deployment = { ...web, status: { ...status, observedGeneration: 1 } }
  assert.deepEqual(sync(web).statusWrites, [expected])
})

test('a Deployment keeps its status when its pause and the end of it are noted, both as Unknown', () => {
  const reason = (paused: boolean) => (paused ? 'DeploymentResumed' : 'DeploymentPaused')
  for (const paused of [true, false]) {
    const noted = { type: 'Progressing', status: 'Unknown', reason: reason(paused) } as const
    const web = deployment({
      spec: { paused },
      status: { ...status, conditions: [foreign, noted] },
    })
    const [written] = outcome(notePause(rollout(web, undefined))).statusWrites
    const { conditions, ...counters } = written?.status ?? {}
    assert.deepEqual(counters, { replicas: 3, collisionCount: 4 })
    assert.deepEqual(
      conditions?.map((each) => [each.type, each.status, each.reason]),
      [
        ['Mine', 'True', 'Of'],
        ['Progressing', 'Unknown', reason(!paused)],
      ],
    )
  }
})

test('a Deployment that is rolled back keeps all but its template and its annotations', () => {
  const web = deployment({
    template: template('img:2'),
    metadata: { annotations: { 'deprecated.deployment.rollback.to': '1' }, labels },
    status: { ...status, conditions: [{ ...foreign, type: 'Progressing' }] },
  })
  const old = owned(web, { name: 'old', image: 'img:1', revision: '1' })
  const current = owned(web, { name: 'new', image: 'img:2', replicas: 3, revision: '2' })
  const [written] = sync(web, [old, current]).deploymentUpdates
  assert.deepEqual(written, {
    ...web,
    metadata: { ...web.metadata, annotations: { [REVISION]: '2' } },
    spec: { ...web.spec, template: template('img:1') },
  })
})
