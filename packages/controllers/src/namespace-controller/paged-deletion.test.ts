import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import type { Effect, Outcome, Read, Write } from '@gyropilot/runtime'
import { drive, statusError } from '@gyropilot/runtime/testing'
import { PAGES_AT_ONCE, PAGE_SIZE, deleteInPages, findPages } from './paged-deletion.ts'

type ListRead = Extract<Read, { verb: 'list' }>

/** A server with so many objects: tokens are the number of the first object of their page. */
function deletionOf(
  count: number,
  given: {
    fail?: (call: Read | Write) => unknown
    knowsPages?: boolean
    /** Where pages begin, as found before. */
    pages?: readonly (string | undefined)[]
    /** What it answers to a deletion besides its metadata. Default: a list of which nobody decoded the items. */
    answers?: object
  } = {},
) {
  const left = new Set(Array.from({ length: count }, (_, index) => index))
  const calls: string[] = []
  const answer = (call: (Read | Write) & { continue?: string; limit?: number }): Outcome => {
    const from = Number(call.continue ?? 0)
    const isWhole = call.limit === undefined || given.knowsPages === false
    const to = isWhole ? count : from + call.limit!
    calls.push(`${call.verb} ${isWhole && call.limit === undefined ? 'all' : from}`)
    const error = given.fail?.(call)
    if (error !== undefined) return { ok: false, error, attempted: true }
    if (call.verb === 'deleteCollection') for (let at = from; at < to; at += 1) left.delete(at)
    const metadata = to < count ? { continue: String(to) } : {}
    const { answers = { items: [], itemsLeftOut: true } } = given
    return { ok: true, object: { metadata, ...answers } as KubernetesObject }
  }
  const { result } = drive(deleteInPages(resources.configmaps, 'ns1', given.pages), {
    onRead: (read) => answer(read as Read & { limit?: number }),
    onWrite: (write) => answer(write as Write & { limit?: number }),
  })
  return { calls, left: left.size, error: result.error, foundNone: result.foundNone }
}

const isFor = (from: number, verb: string) => (call: Read | Write) =>
  call.verb === verb && (call as { continue?: string }).continue === String(from)

test('what fits into one page is one request, as is an empty collection', () => {
  assert.deepEqual(deletionOf(PAGE_SIZE).calls, ['deleteCollection 0'])
  assert.deepEqual(deletionOf(0).calls, ['deleteCollection 0'])
})

test('a server that answers that there was nothing is believed, and no other', () => {
  const foundNone = (answers: object, given: { knowsPages?: boolean } = {}) =>
    deletionOf(given.knowsPages === false ? 0 : 2, { answers, ...given }).foundNone === true
  assert.equal(foundNone({ items: [] }), true)
  assert.equal(foundNone({ kind: 'PartialObjectMetadataList', items: null }), true)
  assert.equal(foundNone({ items: [], itemsLeftOut: true }), false)
  assert.equal(foundNone({ items: [{ metadata: { name: 'a' } }] }), false)
  assert.equal(foundNone({ kind: 'Status', status: 'Success' }), false)
  const pages = deletionOf(PAGE_SIZE + 1, { answers: { items: [] } })
  assert.equal(pages.foundNone, undefined, 'a page of many')
})

test('pages that were found before are deleted beside each other from the first on, without a look', () => {
  const pages = [undefined, String(PAGE_SIZE), String(2 * PAGE_SIZE)]
  const { calls, left } = deletionOf(2 * PAGE_SIZE + 1, { pages })
  assert.deepEqual(calls, [
    'deleteCollection 0',
    `deleteCollection ${PAGE_SIZE}`,
    `deleteCollection ${2 * PAGE_SIZE}`,
  ])
  assert.equal(left, 0)
  const refusal = statusError(403, 'Forbidden')
  assert.equal(deletionOf(300, { pages, fail: () => refusal }).error, refusal)
})

test('further pages are found by lists of metadata and deleted beside each other', () => {
  const { calls, left } = deletionOf(2 * PAGE_SIZE + 1)
  assert.deepEqual(calls, [
    'deleteCollection 0',
    `list ${PAGE_SIZE}`,
    `list ${2 * PAGE_SIZE}`,
    `deleteCollection ${PAGE_SIZE}`,
    `deleteCollection ${2 * PAGE_SIZE}`,
  ])
  assert.equal(left, 0)
})

test('no more than some pages are deleted at once, however many there are', () => {
  const rules = deleteInPages(resources.configmaps, 'ns1', Array(11).fill(undefined))
  const { value } = rules.next()
  const effect = value as Extract<Effect, { effect: 'beside' }>
  assert.deepEqual([effect.effect, effect.rules.length, effect.atOnce], ['beside', 11, 8])
  assert.equal(effect.atOnce, PAGES_AT_ONCE)
  const { calls, left } = deletionOf(PAGE_SIZE * (PAGES_AT_ONCE + 3))
  assert.equal(calls.filter((call) => call.startsWith('del')).length, PAGES_AT_ONCE + 3)
  assert.equal(left, 0)
})

test('pages are found by reading each, until one fails', () => {
  const found = (failsAt?: string) => {
    const seen: number[] = []
    const { result } = drive(
      findPages(resources.pods, 'ns1', { onItems: (items) => seen.push(items.length) }),
      {
        onRead(read) {
          const { continue: token = '0', limit, metadataOnly } = read as ListRead
          assert.deepEqual([limit, metadataOnly], [PAGE_SIZE, undefined])
          if (token === failsAt) return { ok: false, error: 'refused', attempted: true }
          const metadata = token === '2' ? {} : { continue: String(Number(token) + 1) }
          return { ok: true, object: { metadata, items: [{}, {}] } as KubernetesObject }
        },
      },
    )
    return { ...result, seen }
  }
  assert.deepEqual(found(), { pages: [undefined, '1', '2'], seen: [2, 2, 2] })
  assert.deepEqual(found('1'), { pages: [undefined, '1'], error: 'refused', seen: [2] })
})

test('a server that does not know pages of a deletion has deleted everything with the first', () => {
  const { calls, left } = deletionOf(3 * PAGE_SIZE, { knowsPages: false })
  assert.deepEqual(calls, ['deleteCollection 0'])
  assert.equal(left, 0)
})

for (const verb of ['list', 'deleteCollection'])
  test(`a page that the server has forgotten (410 to ${verb}): the rest is deleted as a whole`, () => {
    const isSecond = isFor(2 * PAGE_SIZE, verb)
    const fail = (call: Read | Write) => (isSecond(call) ? statusError(410, 'Expired') : undefined)
    const { calls, left, error } = deletionOf(6 * PAGE_SIZE, { fail })
    assert.equal(calls.at(-1), 'deleteCollection all')
    assert.equal(left, 0)
    assert.equal(error, undefined)
  })

test('any other error is told, and no other page begins after it', () => {
  const refusal = statusError(500, 'InternalError')
  const isSecond = isFor(PAGE_SIZE, 'deleteCollection')
  const fail = (call: Read | Write) => (isSecond(call) ? refusal : undefined)
  const { left, error } = deletionOf(4 * PAGE_SIZE, { fail })
  assert.equal(error, refusal)
  assert.equal(left, 3 * PAGE_SIZE)
})

test('an error of the first page, or of the deletion as a whole, is told', () => {
  const refusal = statusError(403, 'Forbidden')
  assert.equal(deletionOf(10, { fail: () => refusal }).error, refusal)
  const fail = (call: Read | Write) => {
    if (isFor(PAGE_SIZE, 'deleteCollection')(call)) return statusError(410, 'Expired')
    return call.verb === 'deleteCollection' && call.limit === undefined ? refusal : undefined
  }
  assert.equal(deletionOf(2 * PAGE_SIZE, { fail }).error, refusal)
})

test('a page is a hundred objects of the namespace, deleted in the background, and read without bodies', () => {
  assert.equal(PAGE_SIZE, 100)
  const seen: unknown[] = []
  drive(deleteInPages(resources.configmaps, 'ns1'), {
    onWrite(write) {
      assert.ok(write.verb === 'deleteCollection')
      const { namespace, options, limit } = write
      seen.push([write.verb, namespace, options, limit])
      return { ok: true, object: { metadata: { continue: 'x' } } as KubernetesObject }
    },
    onRead(read) {
      const { namespace, limit, metadataOnly } = read as ListRead
      seen.push([read.verb, namespace, limit, metadataOnly])
      return { ok: true, object: { metadata: {}, items: [] } as KubernetesObject }
    },
  })
  const deletion = ['deleteCollection', 'ns1', { propagationPolicy: 'Background' }, 100]
  assert.deepEqual(seen, [deletion, ['list', 'ns1', 100, true], deletion])
})
