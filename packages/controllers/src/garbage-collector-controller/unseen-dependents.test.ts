import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import type { Outcome, Read } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { NOT_FOUND, TestGraph, blocking, listed, object, owner, ref, refused } from './fixtures.ts'
import { testCollector } from './fixtures.ts'
import { CACHE_WAIT_MS, CACHE_WAITS_MAX, LOOK_PAGE_SIZE } from './unseen-dependents.ts'
import { LOOK_TRIES, Looks, READ_INSTEAD_MAX, lookForDependents } from './unseen-dependents.ts'

const CHILD = object('child', { owners: [blocking('rc')] })
const FAILURE = refused(503, 'ServiceUnavailable')

/** In vain. */
const WAITS = Array<string>(CACHE_WAITS_MAX).fill(`wait ${CACHE_WAIT_MS}`)

interface Server {
  readonly pods: (limit: number | undefined) => Outcome
  cached?: readonly KubernetesObject[]
  seenVersion?: string
}

/** Looks for dependents of the ReplicationController `rc`, again and again, as the queue has it done. */
function looker(server: Server, onWait = (): unknown => undefined) {
  const graph = new TestGraph()
  graph.add(owner('rc', { deleting: true }))
  const looks = new Looks()
  const reads: string[] = []
  return {
    reads,
    look() {
      const collector = testCollector(graph, {
        looks,
        get cached() {
          return server.cached
        },
        get seenVersion() {
          return server.seenVersion
        },
      })
      const { result } = drive(lookForDependents(graph.node('rc'), collector), {
        onWait(waitMs) {
          reads.push(`wait ${waitMs}`)
          onWait()
        },
        onRead(read: Read) {
          assert.ok(read.verb === 'list' && read.metadataOnly === true)
          reads.push(`${read.type.resource} in ${read.namespace}, limit ${read.limit}`)
          return server.pods(read.limit)
        },
      })
      return result.next === 'found'
        ? result.dependents.map(({ identity, reference }) => [identity.name, reference.uid])
        : result.next
    },
  }
}

test('a short list is the answer', () => {
  const others = [object('a'), object('b', { owners: [ref('other')] })]
  const { look, reads } = looker({ pods: () => listed([...others, CHILD]) })
  assert.deepEqual(look(), [['child', 'rc-uid']])
  assert.deepEqual(reads, [`pods in ns1, limit ${LOOK_PAGE_SIZE}`])
})

test('more dependents than the arguments that a call may have', () => {
  const { metadata } = CHILD
  const items = Array.from({ length: 150_000 }, (_, i) => ({
    metadata: { ...metadata, name: `child-${i}` },
  }))
  assert.equal(looker({ pods: () => listed(items) }).look().length, 150_000)
})

test('a kind that is not served has no dependents', () => {
  assert.deepEqual(looker({ pods: () => NOT_FOUND }).look(), [])
})

test('where there are many objects the cache is believed once it has come to what the server had', () => {
  const server: Server = {
    pods: () => listed([], { resourceVersion: '100', continue: 'more' }),
    cached: [],
    seenVersion: '99',
  }
  const { look, reads } = looker(server)
  assert.deepEqual([look(), look()], ['later', 'later'])
  server.seenVersion = '100'
  server.cached = [CHILD]
  assert.deepEqual(look(), [['child', 'rc-uid']])
  assert.equal(reads.length, 1 + WAITS.length, 'the server is asked once')
  server.seenVersion = '20'
  assert.equal(look(), 'later', 'the next look starts afresh, and 20 is less than 100')
})

/** A first page that is not all: so many more are there. */
const pageOf = (remainingItemCount: number) =>
  listed([], { resourceVersion: '100', continue: 'more', remainingItemCount })

test('where there are not so many, what is there is read when the cache is not as new', () => {
  const rest = READ_INSTEAD_MAX - LOOK_PAGE_SIZE
  const few = looker({ pods: (limit) => (limit === undefined ? listed([CHILD]) : pageOf(rest)) })
  assert.deepEqual(few.look(), [['child', 'rc-uid']])
  assert.deepEqual(few.reads, [
    `pods in ns1, limit ${LOOK_PAGE_SIZE}`,
    ...WAITS,
    'pods in ns1, limit undefined',
  ])
  assert.equal(looker({ pods: () => pageOf(rest + 1) }).look(), 'later')
})

test('a cache that comes on while it is waited for saves the rest of the list', () => {
  const server: Server = { pods: () => pageOf(5), cached: [CHILD], seenVersion: '99' }
  let waits = 0
  const { look, reads } = looker(server, () => ++waits === 3 && (server.seenVersion = '100'))
  assert.deepEqual(look(), [['child', 'rc-uid']])
  assert.equal(reads.length, 1 + 3)
  const { look: lookAgain, reads: readAgain } = looker(server)
  assert.deepEqual(lookAgain(), [['child', 'rc-uid']])
  assert.equal(readAgain.length, 1, 'nothing is waited for when it is there')
})

test('when not so many cannot be read they are asked for once more at the end, and then the cache must do', () => {
  const { look, reads } = looker({
    pods: (limit) => (limit === undefined ? FAILURE : pageOf(1)),
    cached: [CHILD],
  })
  const answers = Array.from({ length: LOOK_TRIES }, look)
  const between = Array<string>(LOOK_TRIES - 2).fill('later')
  assert.deepEqual(answers, ['retry', ...between, [['child', 'rc-uid']]])
  assert.equal(reads.length, 3 + WAITS.length)
})

test('a cache that does not come on is not waited for any longer, all pages are read', () => {
  const pods = (limit: number | undefined) =>
    limit === undefined ? listed([CHILD]) : listed([], { resourceVersion: '9', continue: 'more' })
  const { look, reads } = looker({ pods, seenVersion: '' })
  const answers = Array.from({ length: LOOK_TRIES }, look)
  assert.deepEqual(answers.slice(0, -1), Array<string>(LOOK_TRIES - 1).fill('later'))
  assert.deepEqual(answers.at(-1), [['child', 'rc-uid']])
  assert.deepEqual(reads, [
    `pods in ns1, limit ${LOOK_PAGE_SIZE}`,
    ...WAITS,
    'pods in ns1, limit undefined',
  ])
})

test('a kind that cannot be read holds nobody up for ever: then the cache must do', () => {
  const { look } = looker({ pods: () => FAILURE, cached: [CHILD] })
  const answers = Array.from({ length: LOOK_TRIES }, look)
  assert.deepEqual(answers.slice(0, -1), Array<string>(LOOK_TRIES - 1).fill('retry'))
  assert.deepEqual(answers.at(-1), [['child', 'rc-uid']])
  assert.equal(look(), 'retry', 'the next look starts afresh')
})

const versions: readonly (readonly [wanted: string, seen: string, hasCome: boolean])[] = [
  ['100', '101', true],
  ['100', '1000', true],
  ['99', '100', true],
  ['100', '99', false],
  ['101', '100', false],
  ['100', '100x', false],
  ['100x', '101', false],
  ['100', '', false],
  ['', '100', false],
]
for (const [wanted, seen, hasCome] of versions) {
  test(`a cache at version ${JSON.stringify(seen)} ${hasCome ? 'has' : 'has not'} come to ${JSON.stringify(wanted)}`, () => {
    const { look } = looker({
      pods: () => listed([], { resourceVersion: wanted, continue: 'more' }),
      cached: [CHILD],
      seenVersion: seen,
    })
    assert.deepEqual(look(), hasCome ? [['child', 'rc-uid']] : 'later')
  })
}
