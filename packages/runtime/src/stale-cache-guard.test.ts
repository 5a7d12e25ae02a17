import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { PrometheusRegistry, VirtualClock, settle } from '@gyropilot/foundation'
import { create, patch, remove, update } from './writes.ts'
import { StaleCacheGuard } from './stale-cache-guard.ts'
import { fakeInformers } from './testing/index.ts'

const pod = (resourceVersion?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'p', resourceVersion },
})

function guard(deletions?: boolean) {
  const clock = new VirtualClock({ settle })
  const informers = fakeInformers()
  const pods = informers.informer(resources.pods)
  const watched = [pods, informers.informer(resources.replicasets)]
  const of = new StaleCacheGuard({
    clock,
    informers: watched,
    ...(deletions === undefined ? {} : { deletions }),
  })
  return { of, pods, clock }
}

const cases: [string, { written: string[]; seen: string; stale: boolean }][] = [
  ['the highest of several counts', { written: ['12', '9'], seen: '10', stale: true }],
  [
    'the last of several counts where it is the highest',
    { written: ['9', '12'], seen: '10', stale: true },
  ],
  ['a longer version is greater', { written: ['100'], seen: '99', stale: true }],
  ['equal length compares as text', { written: ['19'], seen: '20', stale: false }],
  ['an equal version is seen', { written: ['10'], seen: '10', stale: false }],
  ['a malformed version is ignored', { written: ['abc'], seen: '1', stale: false }],
  ['a version with a leading zero is malformed', { written: ['010'], seen: '1', stale: false }],
  ['an empty version is ignored', { written: [''], seen: '1', stale: false }],
  ['a cache of unknown version is not judged', { written: ['5'], seen: '', stale: false }],
]
for (const [title, { written, seen, stale }] of cases) {
  test(title, () => {
    const { of, pods } = guard()
    if (seen !== '') pods.bookmark(seen)
    for (const version of written) of.written('k', 'u', create(resources.pods, pod()), pod(version))
    assert.equal(of.check('k') !== undefined, stale)
  })
}

test('a write for a different uid replaces the record', () => {
  const { of, pods } = guard()
  pods.bookmark('5')
  of.written('k', 'old', create(resources.pods, pod()), pod('10'))
  of.written('k', 'new', create(resources.pods, pod()), pod('4'))
  assert.equal(of.check('k'), undefined)
})

test('creations, updates and patches are recorded; deletions and types that are not watched are not', () => {
  const writes: [boolean, KubernetesObject & object, ReturnType<typeof create>][] = [
    [true, pod('10'), create(resources.pods, pod())],
    [true, pod('10'), update(resources.pods, pod(), 'status')],
    [true, pod('10'), patch(resources.pods, pod(), { type: 'merge', value: {} })],
    [false, pod('10'), remove(resources.pods, pod())],
    [false, pod('10'), create(resources.configmaps, { metadata: {} })],
  ]
  for (const [recorded, object, write] of writes) {
    const { of, pods } = guard()
    pods.bookmark('5')
    of.written('k', 'u', write, object)
    assert.equal(of.check('k') !== undefined, recorded, `${write.verb} ${write.type.resource}`)
  }
})

test('deletions are recorded on request, where the server answers with the object', () => {
  const { of, pods } = guard(true)
  pods.bookmark('5')
  of.written('k', 'u', remove(resources.pods, pod()), { kind: 'Status', metadata: {} })
  assert.equal(of.check('k'), undefined)
  of.written('k', 'u', remove(resources.pods, pod()), pod('10'))
  assert.ok(of.check('k'))
  pods.bookmark('10')
  assert.equal(of.check('k'), undefined)
})

test('what is answered to the deletion of a collection is no write, though it has a version', () => {
  const { of, pods } = guard(true)
  pods.bookmark('5')
  const all = { verb: 'deleteCollection', type: resources.pods, namespace: 'default' } as const
  of.written('k', 'u', all, { kind: 'PodList', metadata: { resourceVersion: '10' } })
  assert.equal(of.check('k'), undefined)
})

test('a type of another group is another type', () => {
  const { of, pods } = guard()
  pods.bookmark('5')
  const type = { ...resources.pods, group: 'metrics.k8s.io', version: 'v1beta1' }
  of.written('k', 'u', create(type, pod()), pod('10'))
  assert.equal(of.check('k'), undefined)
})

test('skipped syncs of a controller without a metric of its own are not counted', () => {
  const metrics = new PrometheusRegistry()
  const pods = fakeInformers().informer(resources.pods)
  const of = new StaleCacheGuard({
    clock: new VirtualClock({ settle }),
    informers: [pods],
    metrics,
  })
  pods.bookmark('5')
  of.written('k', 'u', create(resources.pods, pod()), pod('10'))
  assert.notEqual(of.check('k'), undefined)
  assert.equal(metrics.expose(), new PrometheusRegistry().expose())
})

test('once seen, the record is gone, and so it is when the owner is', () => {
  const { of, pods } = guard()
  of.written('k', 'u', create(resources.pods, pod()), pod('10'))
  pods.bookmark('10')
  assert.equal(of.check('k'), undefined)
  pods.bookmark('5')
  assert.equal(of.check('k'), undefined, 'dropped')
  of.written('k', 'u', create(resources.pods, pod()), pod('10'))
  assert.ok(of.check('k'))
  of.forget('k')
  assert.equal(of.check('k'), undefined)
})

test('skipped syncs are counted under the help text of the controller', () => {
  const metrics = new PrometheusRegistry()
  const pods = fakeInformers().informer(resources.pods)
  const of = new StaleCacheGuard({
    clock: new VirtualClock({ settle }),
    informers: [pods],
    metrics,
    metric: { name: 'job_controller_stale_sync_skips_total', kind: 'Job' },
  })
  pods.bookmark('5')
  of.written('k', 'u', create(resources.pods, pod()), pod('10'))
  assert.notEqual(of.check('k'), undefined)
  const text = metrics.expose()
  assert.match(text, /Total number of Job syncs skipped due to a stale watch cache\.\n/)
  assert.match(text, /^job_controller_stale_sync_skips_total\{group="",resource="pods"\} 1$/m)
})

const refusal = (code: number, reason: string): StatusError =>
  new StatusError({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason })
const conflict = refusal(409, 'Conflict')

test('an update that was refused as a conflict waits until the cache shows a newer version of the object', () => {
  const { of, pods } = guard()
  pods.apply(pod('9'))
  of.refused('k', 'u', update(resources.pods, pod('10'), 'status'), conflict)
  assert.match(of.check('k')?.message ?? '', /10 of default\/p is no longer the newest/)
  pods.bookmark('12')
  assert.ok(of.check('k'), 'what came was not of this object')
  pods.apply(pod('10'))
  assert.ok(of.check('k'), 'the version that was refused')
  pods.apply(pod('11'))
  assert.equal(of.check('k'), undefined)
  pods.apply(pod('10'))
  assert.equal(of.check('k'), undefined, 'dropped')
})

test('a conflict holds nothing up where the cache is newer already, or does not have the object', () => {
  for (const cached of [[pod('11')], []]) {
    const { of, pods } = guard()
    for (const object of cached) pods.apply(object)
    of.refused('k', 'u', update(resources.pods, pod('10')), conflict)
    assert.equal(of.check('k'), undefined)
  }
})

test('a conflict holds up for half a minute at most: not each comes of a newer version', async () => {
  const { of, pods, clock } = guard()
  pods.apply(pod('10'))
  of.refused('k', 'u', update(resources.pods, pod('10')), conflict)
  await clock.advance(29_999)
  assert.ok(of.check('k'))
  await clock.advance(1)
  assert.equal(of.check('k'), undefined)
})

test('only conflicts of updates of a known version tell that a cache that is watched is behind', () => {
  const { metadata } = pod('10')
  const refusals: [ReturnType<typeof create>, Error][] = [
    [update(resources.pods, pod('10')), refusal(404, 'NotFound')],
    [update(resources.pods, pod('10')), new Error('the connection was reset')],
    [update(resources.pods, pod()), conflict],
    [update(resources.configmaps, { metadata }), conflict],
    [create(resources.pods, pod('10')), conflict],
    [remove(resources.pods, pod('10')), conflict],
  ]
  for (const [write, error] of refusals) {
    const { of, pods } = guard()
    pods.apply(pod('10'))
    of.refused('k', 'u', write, error)
    assert.equal(of.check('k'), undefined, `${write.verb} ${error.message}`)
  }
})

test('a conflict of an owner that is gone does not hold up the next one of its name', () => {
  const { of, pods } = guard()
  pods.apply(pod('10'))
  of.refused('k', 'old', update(resources.pods, pod('10')), conflict)
  of.written('k', 'new', create(resources.pods, pod()), pod('10'))
  assert.equal(of.check('k'), undefined)
})

test('what caches show is forgotten of keys that nobody works on again', () => {
  const { of, pods } = guard()
  pods.bookmark('5')
  of.written('behind', 'u', create(resources.pods, pod()), pod('100000'))
  for (let round = 0; round < 10; round++) {
    for (let index = 0; index < 1_000; index++)
      of.written(`${round}/${index}`, 'u', create(resources.pods, pod()), pod('10'))
    pods.bookmark('20')
  }
  assert.ok(of.size <= 2_000, String(of.size))
  assert.notEqual(of.check('behind'), undefined)
})
