import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyText } from './body-text.ts'

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
  const first = '{"labels":{"0":"y","00":"z","app":"a"}}'
  assert.equal(bodyText(JSON.parse(first)), first)
  const later = '{"labels":{"-":"y","0":"z"}}'
  assert.equal(bodyText(JSON.parse(later)), later)
})
