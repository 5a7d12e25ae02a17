import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, deepFreeze } from '@gyropilot/foundation'
import type { KubernetesObject } from '../object.ts'
import { SharedSubtrees } from './shared-subtrees.ts'

interface Shape {
  readonly metadata: { readonly labels: object }
  readonly spec: { readonly containers: readonly { readonly env: readonly { value: string }[] }[] }
}

const take = (subtrees: SharedSubtrees, text: string, previous?: object): Shape => {
  const object = JSON.parse(text)
  subtrees.take(object, previous as KubernetesObject)
  assert.equal(JSON.stringify(object), text, 'sharing shows in nothing')
  return object
}

const containers = '[{"name":"web","env":[{"name":"A","value":"a long value of it"}]}]'
const podText = (name: string, rest = ''): string =>
  `{"metadata":{"name":"${name}","labels":{"application":"shop"}},"spec":{"containers":${containers},"nodeName":"node-${name}"${rest}}}`

test('equal parts become one from the third time on, at any depth; what differs stays apart', () => {
  const subtrees = new SharedSubtrees()
  const [, second, third] = ['a', 'b', 'c'].map((name) => take(subtrees, podText(name))) as [
    Shape,
    Shape,
    Shape,
  ]
  assert.equal(third.spec.containers, second.spec.containers)
  assert.equal(third.metadata.labels, second.metadata.labels)
  assert.notEqual(third.spec, second.spec)
  const other = take(subtrees, podText('d').replace('a long value', 'another value'))
  assert.notEqual(other.spec.containers, second.spec.containers)
  assert.equal(other.spec.containers[0]!.env[0]!.value, 'another value of it')
})

test('an update shares what is as before at once', () => {
  const subtrees = new SharedSubtrees()
  const before = take(subtrees, podText('a'))
  const same = take(
    subtrees,
    podText('a').replace('"labels"', '"resourceVersion":"2","labels"'),
    before,
  )
  assert.equal(same.spec, before.spec)
  assert.equal(same.metadata.labels, before.metadata.labels)
  assert.notEqual(same.metadata, before.metadata)
})

test('a field that was taken before is left as it is, or is that of the state before if it has its parts', () => {
  const subtrees = new SharedSubtrees()
  const containers = [{ name: 'c' }]
  const before = { spec: { containers, nodeName: 'n' } } as KubernetesObject
  const [same, other] = ['n', 'm'].map((nodeName) => ({ spec: { containers, nodeName } }))
  const otherSpec = other!.spec
  subtrees.take(same as KubernetesObject, before, 'spec')
  subtrees.take(other as KubernetesObject, before, 'spec')
  assert.equal(same!.spec, (before as typeof same)!.spec)
  assert.equal(other!.spec, otherSpec)
})

test('values that look alike are not equal', () => {
  const subtrees = new SharedSubtrees()
  const texts = [
    '{"data":{"x":{"a":1,"b":2}}}',
    '{"data":{"x":{"b":2,"a":1}}}',
    '{"data":{"x":{"a":"1","b":"2"}}}',
    '{"data":{"x":["1","2"]}}',
    '{"data":{"x":{"0":"1","1":"2"}}}',
    '{"data":{"x":{"a":true,"b":2}}}',
    '{"data":{"x":{"a":false,"b":2}}}',
    '{"data":{"x":{"a":null,"b":2}}}',
    '{"data":{"x":{}}}',
    '{"data":{"x":[]}}',
    '{"data":{"x":{"a":1.5,"b":2}}}',
    '{"data":{"x":{"a":1.25,"b":2}}}',
    '{"data":{"x":{"__proto__":{"a":1}}}}',
    '{"data":{"x":{"constructor":{"a":1}}}}',
  ]
  for (let round = 0; round < 4; round++) for (const text of texts) take(subtrees, text)
  const zero = JSON.parse('{"data":{"x":{"a":-0}}}')
  for (let round = 0; round < 3; round++) take(subtrees, '{"data":{"x":{"a":0}}}')
  subtrees.take(zero)
  assert.ok(Object.is(zero.data.x.a, -0))
})

test('long texts that differ where their hash does not look stay apart', () => {
  const subtrees = new SharedSubtrees()
  const text = (at: number): string => `${'a'.repeat(at)}b${'a'.repeat(99 - at)}`
  for (let round = 0; round < 3; round++)
    for (let at = 0; at < 100; at++)
      take(subtrees, `{"spec":{"text":"${text(at)}","part":{"text":"${text(at)}"}}}`)
})

test('a hundred thousand different parts, and the tables forget instead of mixing up', () => {
  const subtrees = new SharedSubtrees()
  const random = new SeededRandom('parts')
  for (let i = 0; i < 100_000; i++) {
    const number = Math.floor(random.next() * 60_000)
    take(subtrees, `{"data":{"part":{"number":${number},"text":"a text of number ${number}"}}}`)
  }
})

test('what was met once is remembered while the tables grow', () => {
  const subtrees = new SharedSubtrees()
  take(subtrees, podText('a'))
  for (let i = 0; i < 3_000; i++) take(subtrees, `{"data":{"part":{"number":${i}}}}`)
  const second = take(subtrees, podText('b'))
  assert.equal(take(subtrees, podText('c')).spec.containers, second.spec.containers)
})

test('an object as deep as a parser allows is left alone below a depth', () => {
  const text = `{"data":${'['.repeat(3_000)}${']'.repeat(3_000)}}`
  const subtrees = new SharedSubtrees()
  take(subtrees, text)
  take(subtrees, text, take(subtrees, text))
})

test('frozen parts stand for equal ones and are not changed', () => {
  const subtrees = new SharedSubtrees()
  const frozen = ['a', 'b', 'c'].map((name) => {
    const object = JSON.parse(podText(name))
    deepFreeze(object.spec)
    subtrees.take(object)
    return object as Shape
  })
  assert.notEqual(frozen[1]!.spec.containers, frozen[2]!.spec.containers)
  const fresh = take(subtrees, podText('d'))
  assert.equal(fresh.spec.containers, frozen[1]!.spec.containers)
})
