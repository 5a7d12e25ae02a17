/** Scales of custom resources, whose selectors are texts that anybody writes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from '../workload-support/fixtures.ts'
import { autoscaler, pod, scale, sync } from './fixtures.ts'

const usage = { a: 900, b: 900, c: 900 }
const labelled = ['a', 'b', 'c'].map((name) => ({
  ...pod(name),
  metadata: { ...pod(name).metadata, labels: { app: 'web', tier: '1' } },
}))

function selectorSent(selector: string): string | undefined {
  const { reads } = sync(autoscaler(), { scale: scale(3, selector), usage, pods: labelled })
  return /^metrics\.k8s\.io\/pods ns (.*)$/.exec(reads[0] ?? '')?.[1]
}

test('a selector is asked with in the words of a label selector: by key, values in order, the last of two for one key', () => {
  for (const [written, sent] of [
    ['tier=1,app=web', 'app=web,tier=1'],
    ['app==web', 'app=web'],
    ['app in (zeb,web,abc),!q,tier', 'app in (abc,web,zeb),!q,tier'],
    ['app notin (x,a)', 'app notin (a,x)'],
    [' app = web , tier in ( 1 ) ', 'app=web,tier in (1)'],
    ['app=nope,app=web', 'app=web'],
    ['app in (web,x),app=web', 'app=web,app in (web,x)'],
  ] as const) {
    assert.equal(selectorSent(written), sent, written)
  }
})

test('a selector of nothing is none', () => {
  const { events } = sync(autoscaler(), { scale: scale(3, '  '), usage, pods: labelled })
  assert.equal(events[0]?.reason, 'SelectorRequired')
})

test('with a selector that no label selector can say there is no scale', () => {
  const prefix =
    'received an object from a /scale endpoint which was not convertible to autoscaling Scale: failed to parse target selector: '
  for (const [written, told] of [
    ['app!=x', '"!=" is not a valid label selector operator'],
    ['tier>0', `"gt" isn't supported in label selectors`],
    ['tier<5', `"lt" isn't supported in label selectors`],
    [
      'app in (',
      `couldn't parse the selector string "app in (": unable to parse requirement: found '', expected: ',', ')' or identifier`,
    ],
  ] as const) {
    const { events, conditions, status, did } = sync(autoscaler(), {
      scale: scale(3, written),
      usage,
      pods: labelled,
    })
    assert.deepEqual(
      events.map(({ type, reason, message }) => [type, reason, message]),
      [['Warning', 'FailedGetScale', `${prefix}${told}`]],
    )
    assert.deepEqual([conditions, did], [['AbleToScale False FailedGetScale'], ['status']])
    assert.equal(
      status?.conditions?.[0]?.message,
      `the HPA controller was unable to get the target's current scale: ${prefix}${told}`,
    )
  }
})

test('a target of a cluster-wide kind is looked for in the namespace of the autoscaler, where it is not', () => {
  const asked: unknown[] = []
  const of = { group: 'apps', version: 'v1', resource: 'webs', kind: 'Web', namespaced: false }
  const { conditions } = sync(autoscaler(), {
    onKind: () => ({ ok: true, object: of as never }),
    onRead(read) {
      assert.ok(read.verb === 'get')
      asked.push([read.namespace, read.type.namespaced, read.subresource])
      return refused(404, 'NotFound', 'gone')
    },
  })
  assert.deepEqual(asked, [['ns', true, 'scale']])
  assert.deepEqual(conditions, ['AbleToScale False FailedGetScale'])
})
