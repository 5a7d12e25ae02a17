import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalJson } from './canonical-json.ts'
import { fnv1, fnv1a } from './fnv.ts'
import { safeEncode } from '../names.ts'
import { revisionHash } from './revision-hash.ts'

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

test('canonical JSON sorts keys and escapes as Go does', () => {
  assert.equal(
    canonicalJson({ b: [1, { d: undefined, c: null }], a: '<&>\u2028\u2029"' }),
    '{"a":"\\u003c\\u0026\\u003e\\u2028\\u2029\\"","b":[1,{"c":null}]}',
  )
})
