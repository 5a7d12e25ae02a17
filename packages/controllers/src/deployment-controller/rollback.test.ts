import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../workload-support/fixtures.ts'
import { deployment, owned, sync, template } from './fixtures.ts'

const ROLLBACK_TO = 'deprecated.deployment.rollback.to'
const REVISION = 'deployment.kubernetes.io/revision'

function web(rollbackTo: string) {
  return deployment({
    template: template('img:2'),
    metadata: { annotations: { [ROLLBACK_TO]: rollbackTo, [REVISION]: '2', note: 'new' } },
    status: {
      conditions: [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }],
    },
  })
}
const old = (of = web('0')) =>
  owned(of, { name: 'old', image: 'img:1', revision: '1', annotations: { note: 'old' } })
const current = (of = web('0')) =>
  owned(of, {
    name: 'new',
    image: 'img:2',
    revision: '2',
    replicas: 3,
    annotations: { note: 'new' },
  })

test('rollback copies template and annotations of the revision, without the hash label, and clears the request', () => {
  const of = web('1')
  const hashed = old(of)
  const target = {
    ...hashed,
    spec: {
      ...hashed.spec!,
      template: {
        ...template('img:1'),
        metadata: { labels: { app: 'a', 'pod-template-hash': 'x' } },
      },
    },
  }
  const driven = sync(of, [target, current(of)])
  const [written] = driven.deploymentUpdates
  assert.deepEqual(written?.spec?.template, template('img:1'))
  assert.deepEqual(written?.metadata?.annotations, { [REVISION]: '2', note: 'old' })
  assert.deepEqual(driven.events, [
    {
      type: 'Normal',
      reason: 'DeploymentRollback',
      message: 'Rolled back deployment "web" to revision 1',
    },
  ])
})

test('revision 0 rolls back to the second highest', () => {
  const driven = sync(web('0'), [old(), current()])
  assert.deepEqual(driven.messages, ['Rolled back deployment "web" to revision 1'])
})

const unsuccessful: readonly {
  title: string
  to: string
  sets: ReturnType<typeof old>[]
  reason: string
  message: string
}[] = [
  {
    title: 'there is no last revision',
    to: '0',
    sets: [current()],
    reason: 'DeploymentRollbackRevisionNotFound',
    message: 'Unable to find last revision.',
  },
  {
    title: 'the revision is not there',
    to: '7',
    sets: [old(), current()],
    reason: 'DeploymentRollbackRevisionNotFound',
    message: 'Unable to find the revision to rollback to.',
  },
  {
    title: 'the template is the same',
    to: '2',
    sets: [old(), current()],
    reason: 'DeploymentRollbackTemplateUnchanged',
    message: 'The rollback revision contains the same template as current deployment "web"',
  },
]
for (const { title, to, sets, reason, message } of unsuccessful) {
  test(`when ${title} there is a warning and the request is cleared`, () => {
    const driven = sync(web(to), sets)
    assert.deepEqual(driven.events, [{ type: 'Warning', reason, message }])
    assert.equal(driven.deploymentUpdates[0]?.metadata?.annotations?.[ROLLBACK_TO], undefined)
    assert.deepEqual(driven.deploymentUpdates[0]?.spec, web(to).spec)
  })
}

test('a template that has no ReplicaSet yet gets one, before the rollback', () => {
  const driven = sync(web('1'), [old()])
  assert.equal(driven.created.length, 1)
  assert.deepEqual(driven.deploymentUpdates[0]?.spec?.template, template('img:1'))
})

test('a rollback that is refused is an error and not told', () => {
  const { verdict, messages } = sync(web('1'), [old(), current()], {
    onWrite: () => refused(409, 'Conflict', 'newer'),
  })
  assert.deepEqual([(verdict.error as Error).message, messages], ['newer', []])
})

test('a request that is no integer is none', () => {
  assert.equal(sync(web('soon'), [old(), current()]).deploymentUpdates.length, 0)
})
