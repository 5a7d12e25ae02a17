import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Selectors } from './selectors.ts'

test('an expression is compiled once, and again when 500 others were used since', () => {
  const compilations: string[] = []
  const selectors = new Selectors((expression) => {
    compilations.push(expression)
    return { selects: () => true }
  })
  const use = (expression: string): boolean =>
    selectors.select([{ cel: { expression } }], {} as never, 'class c')
  use('first')
  for (let i = 1; i < 500; i++) use(`other ${i}`)
  assert.equal(use('first'), true)
  assert.equal(compilations.length, 500)
  for (let i = 0; i < 500; i++) use(`third ${i}`)
  use('first')
  assert.deepEqual(
    compilations.filter((expression) => expression === 'first'),
    ['first', 'first'],
  )
})
