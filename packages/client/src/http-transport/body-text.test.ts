import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JsonBodies, bodyText } from './body-text.ts'

test('a body keeps its order, and absent properties are left out', () => {
  assert.equal(bodyText({ b: 1, a: [undefined, null], gone: undefined }), '{"b":1,"a":[null,null]}')
})

// What kube-apiserver 1.36 sent of a revision that kube-controller-manager 1.36 made; it refuses any other bytes with 422.
test('the data of a revision goes back in the bytes it came in', () => {
  const sent =
    '{"data":{"metadata":{"annotations":{"t":"a\\u003cb\\u003e\\u0026c\\u2028d\\u2029é\\t\\""}}}}'
  assert.equal(bodyText(JSON.parse(sent)), sent)
})

test('keys that are numbers stand where their text belongs', () => {
  const sent = '{"data":{"labels":{"10":"x","9":"y","app":"a"}}}'
  assert.equal(bodyText(JSON.parse(sent)), sent)
  const hundred = '{"labels":{"100":"x","200":"y","30":"z"}}'
  assert.equal(bodyText(JSON.parse(hundred)), hundred)
  const first = '{"labels":{"0":"y","00":"z","app":"a"}}'
  assert.equal(bodyText(JSON.parse(first)), first)
  const later = '{"labels":{"-":"y","0":"z"}}'
  assert.equal(bodyText(JSON.parse(later)), later)
})

test('a body that is sent many times in a row is written once, and only one that is said to be', () => {
  const bodies = new JsonBodies()
  const written = { count: 0 }
  const pod = { toJSON: () => ({ at: ++written.count }) }
  const textOf = (json: unknown, repeated?: boolean): string =>
    bodies.bytesOf(repeated === undefined ? { json } : { json, repeated }).toString()
  assert.deepEqual(
    [textOf(pod, true), textOf(pod, true), textOf({ at: 0 }, true), textOf(pod, true)],
    ['{"at":1}', '{"at":1}', '{"at":0}', '{"at":2}'],
  )
  assert.deepEqual([textOf(pod), textOf(pod)], ['{"at":3}', '{"at":4}'])
  assert.equal(textOf({ data: 'x'.repeat(65_536) }, true).length, 65_547)
  assert.equal(textOf(pod, true), '{"at":2}')
})

test('integers beyond 2^53 are written digit by digit, in bodies that Go would write otherwise, too', () => {
  const seconds = 9223372036854775807n
  assert.equal(bodyText({ seconds }), '{"seconds":9223372036854775807}')
  const sorted = '{"a":"\\u003c","seconds":9223372036854775807}'
  assert.equal(bodyText({ seconds, a: '<' }), sorted)
})
