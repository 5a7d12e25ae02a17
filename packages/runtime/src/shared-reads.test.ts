import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import type { Read } from './effects.ts'
import { SharedReads } from './shared-reads.ts'

const list = (mentioning?: string, namespace = 'ns1'): Read & { verb: 'list' } => ({
  verb: 'list',
  type: resources.pods,
  namespace,
  ...(mentioning === undefined ? {} : { mentioning }),
})
const get = (name: string): Read & { verb: 'get' } => ({
  verb: 'get',
  type: resources.pods,
  namespace: 'ns1',
  name,
})

/** A server that answers when it is told to, and tells what it was asked. */
function slowServer() {
  const shared = new SharedReads()
  const asked: (readonly string[])[] = []
  const waiting: PromiseWithResolvers<KubernetesObject>[] = []
  return {
    asked,
    read: (read: Read & { verb: 'get' | 'list' }) =>
      shared.read(read, (mentioning) => {
        asked.push([...mentioning])
        const answer = Promise.withResolvers<KubernetesObject>()
        waiting.push(answer)
        return answer.promise
      }),
    async answer(kind: string) {
      waiting.shift()!.resolve({ kind })
      await turn()
    },
    async refuse(error: Error) {
      waiting.shift()!.reject(error)
      await turn()
    },
  }
}

test('a read that is under way answers nobody who asks later: they share the next one', async () => {
  const server = slowServer()
  const first = server.read(list('a'))
  await turn()
  const later = [server.read(list('b')), server.read(list('c'))]
  await turn()
  assert.deepEqual(server.asked, [['a']], 'one at a time')
  await server.answer('first')
  assert.deepEqual(server.asked, [['a'], ['b', 'c']])
  const last = server.read(list('d'))
  await turn()
  assert.equal(server.asked.length, 2, 'still one at a time')
  await server.answer('second')
  await server.answer('third')
  const kinds = (await Promise.all([first, ...later, last])).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['first', 'second', 'second', 'third'])
})

test('what is read elsewhere, or otherwise, is another read', async () => {
  const server = slowServer()
  const reads = [
    list('a'),
    list('a', 'ns2'),
    list(),
    { ...list('a'), limit: 1 },
    get('a'),
    get('b'),
  ]
  const others = [
    { ...get('a'), metadataOnly: true },
    { ...list('a'), type: resources.services },
  ]
  for (const read of [...reads, ...others]) void server.read(read)
  await turn()
  assert.equal(server.asked.length, reads.length + others.length)
  void server.read(list('b'))
  void server.read(get('a'))
  await turn()
  assert.equal(server.asked.length, reads.length + others.length, 'these wait')
})

test('a refusal is told to all who share it, and the next who ask are asked for anew', async () => {
  const server = slowServer()
  const refused = [server.read(list('a')), server.read(list('b'))]
  const outcomes = Promise.allSettled(refused)
  await turn()
  const next = server.read(list('c'))
  await server.refuse(new Error('busy'))
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await server.answer('second')
  assert.equal((await next).kind, 'second')
  const afterRest = server.read(list('d'))
  await turn()
  await server.answer('third')
  assert.equal((await afterRest).kind, 'third')
})
