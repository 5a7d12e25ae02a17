import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiscoveredResource, KubernetesObject, Pod } from '@gyropilot/api'
import type { Outcome, Read, Write } from '@gyropilot/runtime'
import { drive, statusError } from '@gyropilot/runtime/testing'
import { discovered, terminating } from './fixtures.ts'
import { deleteResource } from './resource-deletion.ts'

const refused = (code: number, reason: string): Extract<Outcome, { ok: false }> => ({
  ok: false,
  error: statusError(code, reason),
  attempted: true,
})
const FORBIDDEN = refused(403, 'Forbidden')
const NOT_ALLOWED = refused(405, 'MethodNotAllowed')
const NOT_FOUND = refused(404, 'NotFound')

interface Given {
  readonly items?: readonly KubernetesObject[]
  /** Default: those of the kind. */
  readonly verbs?: readonly string[]
  readonly group?: string
  readonly onRead?: (index: number) => Outcome | undefined
  readonly onWrite?: (write: Write) => Outcome | undefined
}

/** Objects stay, whatever is asked. The namespace has been in deletion for five seconds. */
function deleting(resource: string, given: Given = {}) {
  const type = discovered().resources.find((each) => each.resource === resource)!
  const reads: Read[] = []
  const { verbs = type.verbs, group = type.group } = given
  const asked: DiscoveredResource = { ...type, verbs, group }
  const { result, writes } = drive(deleteResource(asked, terminating()), {
    nowMs: Date.parse('2026-01-01T00:00:05Z'),
    onRead(read) {
      reads.push(read)
      const items = given.items ?? []
      return (
        given.onRead?.(reads.length - 1) ??
        ({ ok: true, object: { metadata: {}, items } } as Outcome)
      )
    },
    onWrite: given.onWrite,
  })
  return { result, writes, reads }
}

const pod = (
  phase: 'Running' | 'Succeeded' | 'Failed',
  terminationGracePeriodSeconds: number,
): Pod => ({
  metadata: { name: 'p', namespace: 'ns1' },
  spec: { terminationGracePeriodSeconds, containers: [] },
  status: { phase },
})

test('the estimate is the longest grace period of pods that have not ended, until it is over', () => {
  const secondsOf = (...items: readonly Pod[]) => deleting('pods', { items }).result.estimateSeconds
  assert.equal(secondsOf(pod('Running', 30), pod('Running', 60)), 60)
  assert.equal(secondsOf(pod('Running', 30), pod('Failed', 60), pod('Succeeded', 90)), 30)
  assert.equal(secondsOf(pod('Running', 6)), 6)
  assert.equal(secondsOf(pod('Running', 5)), 0)
  assert.equal(deleting('deployments', { items: [pod('Running', 30)] }).result.estimateSeconds, 0)
  const measured = deleting('pods', { items: [pod('Running', 30)], group: 'metrics.k8s.io' })
  assert.equal(measured.result.estimateSeconds, 0)
})

test('without deletecollection, or where it is not supported, each object is deleted in the background', () => {
  const items = [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }]
  const options = { propagationPolicy: 'Background' }
  const expected = ['a', 'b'].map((name) => [name, options])
  const each = ({ writes }: ReturnType<typeof deleting>) =>
    writes.flatMap((write) => (write.verb === 'delete' ? [[write.name, write.options]] : []))
  assert.deepEqual(each(deleting('configmaps', { items, verbs: ['list', 'delete'] })), expected)
  const unsupported = (write: Write) =>
    write.verb === 'deleteCollection' ? NOT_ALLOWED : undefined
  assert.deepEqual(each(deleting('configmaps', { items, onWrite: unsupported })), expected)
  assert.deepEqual(each(deleting('configmaps', { items })), [])
  assert.deepEqual(deleting('configmaps', { items, verbs: ['delete'] }).reads, [])
})

/** Only the first of the reads fails. */
const first = (index: number) => (index === 0 ? FORBIDDEN : undefined)
const ofEach = { items: [{ metadata: { name: 'a' } }], verbs: ['list', 'delete'] }
const failures: readonly (readonly [string, string, Given])[] = [
  ['pods that cannot be listed for the estimate', 'pods', { onRead: first }],
  ['a collection that cannot be deleted', 'configmaps', { onWrite: () => FORBIDDEN }],
  ['an object that cannot be deleted', 'configmaps', { ...ofEach, onWrite: () => FORBIDDEN }],
  ['objects that cannot be listed to delete them', 'configmaps', { ...ofEach, onRead: first }],
  [
    'what is left that cannot be listed',
    'configmaps',
    { ...ofEach, onRead: (index) => (index === 1 ? FORBIDDEN : undefined) },
  ],
]
for (const [what, resource, given] of failures)
  test(`${what}: the error is told`, () => {
    assert.equal(deleting(resource, given).result.error, FORBIDDEN.error)
  })

const firstPage = { ok: true, object: { metadata: { continue: 't' }, items: [pod('Running', 30)] } }

test('pods of which a later page cannot be read remain, so that nothing else goes', () => {
  const onRead = (index: number) => (index === 0 ? (firstPage as Outcome) : FORBIDDEN)
  const { result, writes } = deleting('pods', { onRead })
  assert.deepEqual([result.error, result.remaining], [FORBIDDEN.error, 1])
  assert.deepEqual(writes, [])
})

test('pods whose pages expire while they are read are listed at once, and their pages found anew', () => {
  const onRead = (index: number) =>
    [firstPage as Outcome, refused(410, 'Expired')][index] ??
    ({ ok: true, object: { metadata: {}, items: [pod('Running', 60)] } } as Outcome)
  const { result, reads, writes } = deleting('pods', { onRead })
  assert.deepEqual([result.error, result.remaining, result.estimateSeconds], [undefined, 1, 60])
  assert.deepEqual(
    reads.map((read) => (read as { limit?: number }).limit),
    [100, 100, undefined, undefined],
  )
  assert.deepEqual(
    writes.map((write) => [write.verb, (write as { continue?: string }).continue]),
    [['deleteCollection', undefined]],
  )
})

test('what is gone, or cannot be listed or deleted at all, is no error, and pods keep their estimate', () => {
  const gone = deleting('configmaps', { ...ofEach, onWrite: () => NOT_FOUND })
  assert.match(String(gone.result.error), /unexpected items still remain/, 'it was listed again')
  assert.equal(
    deleting('configmaps', { ...ofEach, onRead: () => NOT_ALLOWED }).result.error,
    undefined,
  )
  const items = [pod('Running', 30)]
  const unlisted = deleting('pods', { items, verbs: ['deletecollection'] }).result
  assert.deepEqual(
    [unlisted.error, unlisted.estimateSeconds, unlisted.remaining],
    [undefined, 30, 0],
  )
  const onRead = (index: number) => (index === 0 ? undefined : NOT_ALLOWED)
  const { error, estimateSeconds } = deleting('pods', { items, onRead }).result
  assert.deepEqual([error, estimateSeconds], [undefined, 30])
})

test('content is read without its bodies, which nobody looks at', () => {
  const { reads } = deleting('configmaps', ofEach)
  assert.deepEqual(
    reads.map((read) => read.verb === 'list' && read.metadataOnly),
    [true, true],
  )
})

test('what the deletion itself found empty is still to be listed', () => {
  const answered = (object: unknown) => () => ({ ok: true, object }) as Outcome
  const empty = deleting('configmaps', { onWrite: answered({ metadata: {}, items: [] }) })
  assert.deepEqual([empty.reads.length, empty.result.isUnverified], [0, true])
  const items = [{ metadata: { name: 'a' } }]
  const full = { metadata: {}, items: [], itemsLeftOut: true }
  const left = deleting('configmaps', { items, onWrite: answered(full) })
  assert.deepEqual(
    [left.reads.length, left.result.remaining, left.result.isUnverified],
    [1, 1, undefined],
  )
})

test('pods are read once, in pages, and each page is deleted as it was found', () => {
  const page = (token?: string) =>
    ({
      ok: true,
      object: { metadata: { continue: token }, items: [pod('Running', 30)] },
    }) as Outcome
  const { reads, writes } = deleting('pods', {
    onRead: (index) => [page('b'), page('c'), page()][index],
  })
  const tokens = (calls: readonly object[]) =>
    calls.map((call) => (call as { readonly continue?: string }).continue)
  assert.deepEqual(tokens(reads), [undefined, 'b', 'c', undefined], 'and what is left')
  assert.deepEqual(tokens(writes), [undefined, 'b', 'c'])
})
