import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { hostPortsOf, podRequests } from '@gyropilot/api'
import { node, pod } from '@gyropilot/api/testing'
import { NodeRoom } from './node-room.ts'
import type { Resident } from './node-room.ts'

const asking = (
  uid: string,
  cpu: string,
  given: Partial<Resident> = {},
  more: Partial<Pod> = {},
) => {
  const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu } } }]
  const of = pod({ name: uid, spec: { containers, ...more.spec } as Pod['spec'] & object })
  const own = { ...of, metadata: { ...of.metadata, uid }, status: { ...more.status } } as Pod
  const amounts = { requests: podRequests(own), hostPorts: hostPortsOf(own) }
  const calm = { done: false, deferredSince: undefined, reconsider: () => {} }
  return [uid, { pod: own, ...amounts, ...calm, ...given }] as const
}

test('there is room beside the others that are not done', () => {
  const residents = new Map([
    asking('a', '1'),
    asking('b', '500m'),
    asking('c', '4', { done: true }),
  ])
  const room = new NodeRoom(residents, () => node({ allocatable: { cpu: '2' } }))
  const [, larger] = asking('a', '1500m')
  assert.equal(room.refusal(larger.pod), undefined)
  const [, largest] = asking('a', '1600m')
  assert.equal(
    room.refusal(largest.pod),
    "Node didn't have enough resource: cpu, requested: 1600, used: 500, capacity: 2000",
  )
})

test('who waits is asked again: by priority, Guaranteed before others, who has waited longest first', () => {
  const asked: string[] = []
  const waiting = (uid: string, since: string, more: Partial<Pod> = {}) =>
    asking(uid, '1', { deferredSince: since, reconsider: () => void asked.push(uid) }, more)
  const residents = new Map([
    waiting('late', '2026-01-01T00:00:09Z'),
    waiting('early', '2026-01-01T00:00:01Z'),
    waiting('guaranteed', '2026-01-01T00:00:09Z', { status: { qosClass: 'Guaranteed' } }),
    waiting('important', '2026-01-01T00:00:09Z', { spec: { priority: 7 } as Pod['spec'] & object }),
    asking('content', '1', { reconsider: () => void asked.push('content') }),
    asking('done', '1', {
      done: true,
      deferredSince: '',
      reconsider: () => void asked.push('done'),
    }),
  ])
  new NodeRoom(residents, () => node()).changed()
  assert.deepEqual(asked, ['important', 'guaranteed', 'early', 'late'])
})
