import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectCountEvaluator } from '@gyropilot/api'
import { virtualClock } from '@gyropilot/foundation/testing'
import type { AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { QuotaBatches } from './batches.ts'
import type { Judged, LimitedResource } from './judge.ts'

const resource = { group: '', resource: 'configmaps', kind: 'ConfigMap', namespaced: true }

function asked(name: string, namespace = 'a', dryRun = false): Judged {
  const request = {
    operation: 'CREATE',
    resource,
    subresource: '',
    namespace,
    name,
    object: { metadata: { name } },
    dryRun,
  } as unknown as AdmissionRequest
  const evaluator = objectCountEvaluator(resource, ['configmaps'])
  return { request, evaluator, facts: { nowMs: 0 } }
}

/** Quotas of 3 in a store whose writes a test can make fail or wait. */
function batching(
  names: readonly string[],
  onWrite: (quota: Stored) => Promise<void> | void = () => {},
  limited: readonly LimitedResource[] = [],
) {
  const clock = virtualClock()
  const stored = new Map<string, Stored>(
    names.map((name) => [
      name,
      {
        metadata: { name },
        spec: {},
        status: { hard: { configmaps: '3' }, used: { configmaps: '0' } },
      },
    ]),
  )
  const writes: string[] = []
  const batches = new QuotaBatches({
    clock,
    limited,
    quotasIn: () => [...stored.values()],
    async write(quota) {
      const { name } = quota['metadata']
      writes.push(`${name}=${quota['status'].used.configmaps}`)
      await onWrite(quota)
      stored.set(name, quota)
    },
  })
  const admit = (judged: Judged): Promise<string> =>
    batches.admit(judged).then(
      () => 'allowed',
      (error: Error) => error.message,
    )
  return { clock, stored, writes, admit }
}

test('requests that wait together are written once', async () => {
  const { admit, writes } = batching(['q'])
  assert.deepEqual(await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => admit(asked(name)))), [
    'allowed',
    'allowed',
    'allowed',
    ...['d', 'e'].map(
      (name) =>
        `configmaps "${name}" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=3, limited: configmaps=3`,
    ),
  ])
  assert.deepEqual(writes, ['q=1', 'q=3'])
})

test('on failure retry up to 3 times, only for the quotas that failed; then the last error is returned', async () => {
  let failures = 3
  const { admit, writes } = batching(['p', 'q'], ({ metadata }) => {
    if (metadata.name === 'q' && failures-- > 0) throw new Error(`failure ${failures}`)
  })
  assert.equal(await admit(asked('a')), 'allowed')
  assert.deepEqual(writes, ['p=1', 'q=1', 'q=1', 'q=1', 'q=1'])
  failures = 4
  assert.equal(await admit(asked('b')), 'failure 0')
  assert.deepEqual(writes.slice(5), ['p=2', 'q=2', 'q=2', 'q=2', 'q=2'])
})

test('with fresh quotas: what somebody else has used meanwhile counts', async () => {
  let isFirst = true
  const { admit, stored } = batching(['q'], (quota) => {
    if (!isFirst) return
    isFirst = false
    stored.set('q', { ...quota, status: { ...quota['status'], used: { configmaps: '3' } } })
    throw new Error('conflict')
  })
  assert.match(
    await admit(asked('a')),
    /exceeded quota: q, requested: configmaps=1, used: configmaps=3/,
  )
})

test('a request waits at most 10s, then 500', async () => {
  const { admit, clock } = batching(['q'], () => new Promise(() => {}))
  const answer = admit(asked('a'))
  let said = ''
  void answer.then((text) => (said = text))
  await clock.advance(9_999)
  assert.equal(said, '')
  await clock.advance(1)
  assert.equal(said, 'Internal error occurred: resource quota evaluation timed out')
})

test('5 namespaces at the same time, the next when one is done', async () => {
  const open: (() => void)[] = []
  const { admit, writes } = batching(['q'], () => new Promise<void>((done) => open.push(done)))
  const answers = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((namespace) =>
    admit(asked('x', namespace)),
  )
  await new Promise(setImmediate)
  assert.equal(writes.length, 5)
  open[0]!()
  await answers[0]
  await new Promise(setImmediate)
  assert.equal(writes.length, 6)
})

test('dry-run requests are checked but not written', async () => {
  const { admit, writes, stored } = batching(['q'])
  assert.equal(await admit(asked('a', 'a', true)), 'allowed')
  stored.set('q', {
    metadata: { name: 'q' },
    spec: {},
    status: { hard: { configmaps: '3' }, used: { configmaps: '3' } },
  })
  assert.match(await admit(asked('b', 'a', true)), /exceeded quota/)
  assert.deepEqual(writes, [])
})

const limited: LimitedResource = { group: '', resource: 'configmaps', matchContains: ['config'] }

test('Limited-by-default configuration: what no quota covers is refused', async () => {
  const uncovered = batching([], () => {}, [limited])
  assert.equal(
    await uncovered.admit(asked('a')),
    'configmaps "a" is forbidden: insufficient quota to consume: configmaps,count/configmaps',
  )
  const partly = batching(['q'], () => {}, [{ ...limited, matchContains: ['count/'] }])
  assert.equal(
    await partly.admit(asked('a')),
    'configmaps "a" is forbidden: insufficient quota to consume: count/configmaps',
  )
  const other = batching([], () => {}, [{ ...limited, resource: 'secrets' }])
  assert.equal(await other.admit(asked('a')), 'allowed')
})

test('Given a limited resource without quota, then it is denied until a quota exists', async () => {
  const { admit, stored } = batching([], () => {}, [{ ...limited, matchContains: ['configmaps'] }])
  assert.match(
    await admit(asked('a')),
    /insufficient quota to consume: configmaps,count\/configmaps$/,
  )
  const hard = { configmaps: '3', 'count/configmaps': '3' }
  const used = { configmaps: '0', 'count/configmaps': '0' }
  stored.set('q', { metadata: { name: 'q' }, spec: {}, status: { hard, used } })
  assert.equal(await admit(asked('a')), 'allowed')
})
