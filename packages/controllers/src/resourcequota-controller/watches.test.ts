import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { standardEvaluators } from '@gyropilot/api'
import type { KubernetesObject, ResourceQuota, UsageEvaluator } from '@gyropilot/api'
import {
  PRIMARY_QUEUE,
  PRIORITY_QUEUE,
  RESOURCE_CHANGES_QUEUE,
  defaultResourceQuotaConfiguration,
} from './config.ts'
import { Countables } from './countables.ts'
import { isCountedAnew, queueOfAdded, queueOfUpdated, quotasOfChange } from './watches.ts'
import { resourceQuotaController } from './index.ts'

type Amounts = Readonly<Record<string, string>>
const known = new Countables(standardEvaluators())
const isCounted = (name: string): boolean => known.isCounted(name)
const quota = (hard: Amounts, status?: { hard?: Amounts; used?: Amounts }, name = 'q') =>
  ({ metadata: { name, namespace: 'a' }, spec: { hard }, status }) as ResourceQuota
const evaluatorOf = (resource: string): UsageEvaluator =>
  standardEvaluators().find((each) => each.resource.resource === resource)!

describe('Given no status, missing used, mismatch, extended resource, unknown resource, ready, then the right queue', () => {
  const hard = { pods: '1', cpu: '2' }
  const unknown = { 'count/unknowns.example.com': '1' }
  const gpu = { 'requests.example.com/gpu': '1' }
  for (const [title, added, queue] of [
    ['no status', quota(hard), 'priority'],
    ['no used at all', quota(hard, { hard }), 'priority'],
    ['one used missing', quota(hard, { hard, used: { pods: '0' } }), 'priority'],
    [
      'mismatch',
      quota(hard, { hard: { ...hard, cpu: '3' }, used: { pods: '0', cpu: '0' } }),
      'priority',
    ],
    [
      'a name more in status',
      quota({ pods: '1' }, { hard, used: { pods: '0', cpu: '0' } }),
      'priority',
    ],
    ['extended resource, missing', quota(gpu, { hard: gpu, used: {} }), 'priority'],
    [
      'extended resource, ready',
      quota(gpu, { hard: gpu, used: { 'requests.example.com/gpu': '0' } }),
      'primary',
    ],
    ['unknown resource', quota(unknown, { hard: unknown, used: {} }), 'primary'],
    [
      'ready',
      quota(hard, { hard: { pods: '1', cpu: '2000m' }, used: { pods: '0', cpu: '0' } }),
      'primary',
    ],
    ['nothing limited', quota({}), 'primary'],
  ] as const) {
    test(title, () => assert.equal(queueOfAdded(added, isCounted), queue))
  }
})

test('Only a changed spec.hard requeues an updated quota', () => {
  const ready = { hard: { cpu: '1' }, used: { cpu: '0' } }
  const before = quota({ cpu: '1' }, ready)
  assert.equal(queueOfUpdated(before, before, isCounted), undefined)
  assert.equal(queueOfUpdated(before, quota({ cpu: '1000m' }), isCounted), undefined)
  assert.equal(queueOfUpdated(before, quota({ cpu: '2' }, ready), isCounted), 'priority')
  const caughtUp = quota({ cpu: '2' }, { hard: { cpu: '2' }, used: { cpu: '0' } })
  assert.equal(queueOfUpdated(before, caughtUp, isCounted), 'primary')
})

test('a namesake in the place of a quota is one that nobody has counted yet', () => {
  const ready = { hard: { cpu: '1' }, used: { cpu: '0' } }
  const withUid = (uid: string, { metadata, ...rest }: ResourceQuota): ResourceQuota => ({
    ...rest,
    metadata: { ...metadata, uid },
  })
  const before = withUid('1', quota({ cpu: '1' }, ready))
  assert.equal(queueOfUpdated(before, withUid('2', quota({ cpu: '1' })), isCounted), 'priority')
})

test('an object whose place a namesake has taken is gone, whatever it is', () => {
  const [before, after] = ['1', '2'].map((uid) => ({ metadata: { uid } }))
  assert.ok(isCountedAnew(evaluatorOf('configmaps'), before!, after!, 0))
})

test('a change concerns quotas whose status.hard names something its evaluator handles', () => {
  const quotas = [
    quota({}, { hard: { pods: '1' } }, 'pods'),
    quota({ pods: '1' }, undefined, 'new'),
    quota({}, { hard: { services: '1', 'limits.cpu': '1' } }, 'both'),
    quota({}, { hard: { 'count/secrets': '1' } }, 'other'),
  ]
  assert.deepEqual(quotasOfChange(evaluatorOf('pods'), quotas), ['a/pods', 'a/both'])
})

test('All other types: updates ignored', () => {
  const [previous, current]: KubernetesObject[] = [{}, { metadata: { labels: { a: 'b' } } }]
  const isAnew = (resource: string) => isCountedAnew(evaluatorOf(resource), previous!, current!, 0)
  assert.ok(!isAnew('configmaps') && !isAnew('secrets') && !isAnew('resourceclaims'))
  assert.ok(isAnew('persistentvolumeclaims'))
})

test('settings and queues are those of the page', () => {
  assert.deepEqual(defaultResourceQuotaConfiguration, {
    concurrentResourceQuotaSyncs: 5,
    resourceQuotaSyncPeriodMs: 300_000,
  })
  assert.deepEqual(
    [PRIMARY_QUEUE, PRIORITY_QUEUE, RESOURCE_CHANGES_QUEUE],
    [
      'resourcequota_primary',
      'resourcequota_priority',
      'resource_quota_controller_resource_changes',
    ],
  )
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = resourceQuotaController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['resourcequota-controller', ['resourcequota'], 'resourcequota-controller', true],
  )
})
