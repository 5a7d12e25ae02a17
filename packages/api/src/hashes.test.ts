import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from './canonical-json.ts'
import { fnv1, fnv1a } from './fnv.ts'
import { safeEncode } from './names.ts'
import { podTemplateHash, revisionHash } from './pod-template-hash.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('FNV-1 and FNV-1a are the published functions', () => {
  assert.equal(fnv1a(bytes('')), 0x811c9dc5)
  assert.equal(fnv1a(bytes('foobar')), 3214735720)
  assert.equal(safeEncode(String(fnv1a(bytes('foobar')))), '7658c79c64')
  assert.equal(fnv1(bytes('foobar')), 0x31f0b262)
})

test('a known revision has the name that Kubernetes gives it', () => {
  const data =
    '{"spec":{"template":{"$patch":"replace","metadata":{"annotations":{"test":"value"},"labels":{"app":"foo"}},"spec":{"containers":[{"image":"test","imagePullPolicy":"Always","name":"test","resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}'
  assert.equal(revisionHash(data, 0), '776999688b')
  assert.notEqual(revisionHash(data), revisionHash(data, 0))
})

test('Given collisionCount 1 and 2 (or nil and MaxInt32), when hashing the same template, then hashes differ', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c' }] } }
  const hashes = [undefined, 0, 1, 2, 2 ** 31 - 1].map((count) => podTemplateHash(template, count))
  assert.equal(new Set(hashes).size, hashes.length)
  for (const hash of hashes) assert.match(hash, /^[456789bcdf]{1,10}$/)
})

test('the template hash depends on content, not on the order of fields', () => {
  const one = podTemplateHash({ metadata: { name: 'n', labels: { a: '1', b: '2' } } })
  assert.equal(podTemplateHash({ metadata: { labels: { b: '2', a: '1' }, name: 'n' } }), one)
  assert.notEqual(podTemplateHash({ metadata: { labels: { b: '2', a: '2' }, name: 'n' } }), one)
})

test('canonical JSON sorts keys and escapes as Go does', () => {
  assert.equal(
    canonicalJson({ b: [1, { d: undefined, c: null }], a: '<&>\u2028\u2029"' }),
    '{"a":"\\u003c\\u0026\\u003e\\u2028\\u2029\\"","b":[1,{"c":null}]}',
  )
})
