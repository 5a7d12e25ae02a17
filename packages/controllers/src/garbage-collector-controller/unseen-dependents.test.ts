import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject } from '@gyropilot/api'
import type { Outcome, Read } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { NOT_FOUND, TestGraph, blocking, listed, object, owner, ref, refused } from './fixtures.ts'
import { testCollector } from './fixtures.ts'
import { LOOK_PAGE_SIZE, LOOK_TRIES, Looks, lookForDependents } from './unseen-dependents.ts'

const CHILD = object('child', { owners: [blocking('rc')] })
const FAILURE = refused(503, 'ServiceUnavailable')

interface Server {
  readonly pods: (limit: number | undefined) => Outcome
  cached?: readonly KubernetesObject[]
  seenVersion?: string
}

/** Looks for dependents of the ReplicationController `rc`, again and again, as the queue has it done. */
function looker(server: Server) {
  const graph = new TestGraph()
  graph.add(owner('rc', { deleting: true }))
  const looks = new Looks()
  const reads: string[] = []
  return {
    reads,
    look() {
      const { cached, seenVersion } = server
      const collector = testCollector(graph, { looks, cached, seenVersion })
      const { result } = drive(lookForDependents(graph.node('rc'), collector), {
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
  assert.equal(reads.length, 1, 'the server is asked once')
  server.seenVersion = '20'
  assert.equal(look(), 'later', 'the next look starts afresh, and 20 is less than 100')
})

test('a cache that does not come on is not waited for any longer, all pages are read', () => {
  const pods = (limit: number | undefined) =>
    limit === undefined ? listed([CHILD]) : listed([], { resourceVersion: '9', continue: 'more' })
  const { look, reads } = looker({ pods, seenVersion: '' })
  const answers = Array.from({ length: LOOK_TRIES }, look)
  assert.deepEqual(answers.slice(0, -1), Array<string>(LOOK_TRIES - 1).fill('later'))
  assert.deepEqual(answers.at(-1), [['child', 'rc-uid']])
  assert.equal(reads.length, 2)
})

test('a kind that cannot be read holds nobody up for ever: then the cache must do', () => {
  const { look } = looker({ pods: () => FAILURE, cached: [CHILD] })
  const answers = Array.from({ length: LOOK_TRIES }, look)
  assert.deepEqual(answers.slice(0, -1), Array<string>(LOOK_TRIES - 1).fill('retry'))
  assert.deepEqual(answers.at(-1), [['child', 'rc-uid']])
  assert.equal(look(), 'retry', 'the next look starts afresh')
})
