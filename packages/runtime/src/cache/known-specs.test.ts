import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, ObjectMeta } from '@gyropilot/api'
import { KnownSpecs } from './known-specs.ts'

type WithSpec = KubernetesObject & { spec?: object; status?: object }

function world() {
  const asked: string[] = []
  const specs = new KnownSpecs(
    (_: ObjectMeta, written) => {
      asked.push(written)
      const own = /"own":(\d+)/.exec(written)?.[1]
      if (own === undefined) return { text: written }
      return { text: written.replace(/"own":\d+/, '"own":0'), own: { own: Number(own) } }
    },
    (value) => value,
  )
  /** Decoded, and taken in at once unless it is said that it is not. */
  const decode = (rest: string, isTakenIn = true): WithSpec | undefined => {
    const object: WithSpec = { metadata: { name: 'p' } }
    if (!specs.complete(object, rest)) return undefined
    if (isTakenIn) takeIn(object)
    return object
  }
  const takeIn = (object: WithSpec): boolean | undefined => {
    let isKept: boolean | undefined
    specs.takeIn(object, (isSpecKept) => {
      isKept = isSpecKept
      if (!isSpecKept) object.spec = { kept: true, ...object.spec }
    })
    return isKept
  }
  return { specs, asked, decode, takeIn }
}

test('a spec that was met before is the one that is kept, whatever stands beside it', () => {
  const { decode, asked } = world()
  const first = decode('"spec":{"a":1},"status":{"b":2}')
  assert.deepEqual(first, {
    metadata: { name: 'p' },
    spec: { kept: true, a: 1 },
    status: { b: 2 },
  })
  const second = decode('"spec":{"a":1},"status":{"b":3}')
  assert.equal(second?.spec, first?.spec)
  assert.deepEqual(second?.status, { b: 3 })
  assert.equal(decode('"spec":{"a":1}')?.spec, first?.spec)
  assert.deepEqual(asked, ['{"a":1}', '{"a":1}', '{"a":1}'])
})

test('integers beyond 2^53 are exact in specs and in what stands beside them', () => {
  const { decode } = world()
  assert.deepEqual(decode('"spec":{"a":9007199254740993},"status":{"b":9223372036854775807}'), {
    metadata: { name: 'p' },
    spec: { kept: true, a: 9007199254740993n },
    status: { b: 9223372036854775807n },
  })
})

test('what is its own is not in the text, and stands where it was written', () => {
  const { decode } = world()
  const written = (own: number): string => `"spec":{"a":[1],"own":${own},"b":[2]}`
  const [first, second, third] = [4, 5, 4].map((own) => decode(written(own))!.spec!)
  assert.equal(JSON.stringify(first), '{"kept":true,"a":[1],"own":4,"b":[2]}')
  assert.equal(JSON.stringify(second), '{"kept":true,"a":[1],"own":5,"b":[2]}')
  assert.deepEqual(third, first)
  for (const part of ['a', 'b'] as const)
    assert.equal(
      (second as Record<string, unknown>)[part],
      (first as Record<string, unknown>)[part],
    )
})

test('what is its own of several that came in one piece', () => {
  const { decode, takeIn } = world()
  const objects = [1, 2, 3].map((own) => decode(`"spec":{"own":${own},"a":[1]}`, false)!)
  assert.deepEqual(objects.map(takeIn), [false, true, true])
  assert.deepEqual(
    objects.map(({ spec }) => spec),
    [1, 2, 3].map((own) => ({ kept: true, own, a: [1] })),
  )
})

test('what was decoded in one piece, before the first of it is taken in', () => {
  const { decode, takeIn } = world()
  const [a, lost, b, c] = Array.from({ length: 4 }, () => decode('"spec":{"a":1}', false)!)
  const other = decode('"spec":{"a":2}', false)!
  assert.equal(b!.spec, a!.spec, 'decoded once')
  assert.equal(takeIn(a!), false)
  assert.deepEqual([takeIn(b!), takeIn(c!), takeIn(other)], [true, true, false])
  assert.equal(b!.spec, a!.spec)
  assert.equal(c!.spec, a!.spec)
  assert.deepEqual(other.spec, { kept: true, a: 2 })
  assert.deepEqual(lost!.spec, { a: 1 }, 'nobody was told of it')
})

test('what is passed over, as nothing of it is new, is not remembered, nor what was decoded before it', () => {
  const { specs, decode, takeIn } = world()
  const [lost, known] = ['"spec":{"a":1}', '"spec":{"a":2}'].map((rest) => decode(rest, false)!)
  const after = decode('"spec":{"a":3}', false)!
  specs.passOver(known!)
  for (const [rest, before] of [
    ['"spec":{"a":1}', lost],
    ['"spec":{"a":2}', known],
  ] as const)
    assert.notEqual(decode(rest, false)!.spec, before!.spec, rest)
  assert.equal(decode('"spec":{"a":3}', false)!.spec, after.spec, 'what came after it still waits')
  assert.equal(takeIn(after), false)
})

for (const [title, rest] of [
  ['a status within the spec', '"spec":{"template":{"x":{},"status":{"a":1}}},"status":{"b":2}'],
  ['more than a spec and a status', '"spec":{"a":1},"status":{},"other":1'],
  ['no spec', '"data":{"a":1},"status":{}'],
  ['no JSON', '"spec":{"a":1,"status":{}'],
  ['a text that is longer than most', `"spec":{"a":"${'x'.repeat(8_200)}"},"status":{}`],
] as const) {
  test(`${title}: somebody else decodes it, and nothing was put in`, () => {
    const { specs } = world()
    const object: WithSpec = {}
    let isDone: boolean
    try {
      isDone = specs.complete(object, rest)
    } catch {
      isDone = false
    }
    assert.equal(isDone, false)
    assert.deepEqual(object, {})
  })
}

test('what was met long ago is forgotten', () => {
  const { decode } = world()
  const specOf = (number: number): object => decode(`"spec":{"n":${number}}`)!.spec!
  const first = specOf(0)
  for (let i = 1; i < 256; i++) specOf(i)
  assert.equal(specOf(0), first)
  const last = specOf(256)
  assert.notEqual(specOf(0), first)
  assert.equal(specOf(256), last)
})

test('what never came to be taken in is not remembered, and what others decoded is none of its business', () => {
  const { decode, takeIn } = world()
  const [lost, here] = ['"spec":{"a":1}', '"spec":{"a":2}'].map((rest) => decode(rest, false)!)
  assert.equal(takeIn({ spec: {} } as WithSpec), false)
  assert.equal(takeIn(here!), false)
  assert.notEqual(decode('"spec":{"a":1}', false)!.spec, lost!.spec)
  assert.equal(decode('"spec":{"a":2}')!.spec, here!.spec)
})

test('a spec that is like no other is decoded by somebody else', () => {
  const specs = new KnownSpecs(
    () => undefined,
    (value) => value,
  )
  const object: WithSpec = {}
  assert.equal(specs.complete(object, '"spec":{"a":1}'), false)
  assert.deepEqual(object, {})
})
