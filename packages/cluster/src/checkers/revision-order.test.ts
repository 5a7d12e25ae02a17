import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreEvent } from '@gyropilot/api-server'
import { requestFacts } from '../simulated/request-facts.ts'
import { revisionOrder } from './revision-order.ts'

type Sent = readonly [type: 'ADDED' | 'MODIFIED' | 'BOOKMARK' | 'ERROR', revision: number]

const SENDER = { process: 'manager', link: 'informers', user: 'manager' }
const INITIAL = 'k8s.io/initial-events-end'

function reportsOf(play: (observer: ReturnType<typeof revisionOrder>) => void): readonly string[] {
  const reports: string[] = []
  play(revisionOrder((_, message) => void reports.push(message)))
  return reports
}

/** What is reported of a watch that is sent these. */
function reportsOfWatch(query: string, sent: readonly Sent[], initial = -1): readonly string[] {
  const path = `/api/v1/pods?watch=true${query}`
  const facts = requestFacts(SENDER, { method: 'GET', path })
  return reportsOf((observer) => {
    for (const [index, [type, revision]] of sent.entries()) {
      const annotations = index === initial ? { [INITIAL]: 'true' } : {}
      const metadata = { name: 'p', namespace: 'x', resourceVersion: `${revision}`, annotations }
      observer.delivered?.(facts, { type, object: { metadata } } as never)
    }
  })
}

test('commits are numbered one by one, whatever the first number is', () => {
  const reportsOfCommits = (...revisions: readonly number[]): readonly string[] =>
    reportsOf((observer) => {
      for (const revision of revisions)
        observer.committed?.({ collection: 'pods', key: 'x/p', revision } as StoreEvent)
    })
  assert.deepEqual(reportsOfCommits(7, 8, 9), [])
  assert.deepEqual(reportsOfCommits(7, 9), ['pods x/p at 9 after 7'])
  assert.deepEqual(reportsOfCommits(7, 7), ['pods x/p at 7 after 7'])
})

test('no watch goes back in time; a bookmark may say again where it is', () => {
  const back = ['manager was sent pods x/p at 5 after 6']
  assert.deepEqual(
    reportsOfWatch('', [
      ['ADDED', 5],
      ['MODIFIED', 6],
      ['BOOKMARK', 6],
    ]),
    [],
  )
  assert.deepEqual(
    reportsOfWatch('', [
      ['ADDED', 6],
      ['MODIFIED', 5],
    ]),
    back,
  )
  assert.deepEqual(
    reportsOfWatch('', [
      ['ADDED', 6],
      ['BOOKMARK', 5],
    ]),
    back,
  )
  assert.equal(
    reportsOfWatch('', [
      ['ADDED', 6],
      ['MODIFIED', 6],
    ]).length,
    1,
  )
  assert.deepEqual(
    reportsOfWatch('', [
      ['ADDED', 6],
      ['ERROR', 0],
    ]),
    [],
  )
})

test('no watch is sent what its reader has already', () => {
  const old = ['manager was sent pods x/p at 8 after 8']
  assert.deepEqual(reportsOfWatch('&resourceVersion=8', [['MODIFIED', 8]]), old)
  assert.deepEqual(
    reportsOfWatch('&resourceVersion=8', [
      ['BOOKMARK', 8],
      ['MODIFIED', 9],
    ]),
    [],
  )
  for (const anywhere of ['', '&resourceVersion=', '&resourceVersion=0'])
    assert.deepEqual(reportsOfWatch(anywhere, [['ADDED', 3]]), [])
})

test('what a streamed list begins with is in any order, and what follows is later', () => {
  const query = '&sendInitialEvents=true&resourceVersion=5'
  const list = [
    ['ADDED', 6],
    ['ADDED', 4],
    ['BOOKMARK', 6],
  ] as const
  assert.deepEqual(reportsOfWatch(query, [...list, ['MODIFIED', 7]], 2), [])
  const again = ['manager was sent pods x/p at 6 after 6']
  assert.deepEqual(reportsOfWatch(query, [...list, ['MODIFIED', 6]], 2), again)
})
