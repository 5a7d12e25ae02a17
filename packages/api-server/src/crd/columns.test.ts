import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf, firstAt } from './columns.ts'

const OBJECT = {
  metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z', labels: { 'a.b/c': 'l' } },
  spec: { size: 3.7, on: true, map: { a: 1 }, list: [{ n: 'a' }, { n: 'b' }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
}

test('paths of printer columns', () => {
  const cases: readonly [string, unknown][] = [
    ['.spec.size', 3.7],
    ['.spec.list[1].n', 'b'],
    ['.spec.list[*].n', 'a'],
    ["['metadata']['labels']['a.b/c']", 'l'],
    ['.metadata.labels.a\\.b/c', 'l'],
    ['.status.conditions[?(@.type=="Ready")].status', 'True'],
    ['.spec.none', undefined],
  ]
  for (const [path, value] of cases) assert.deepEqual(firstAt(OBJECT, path), value, path)
})

test('without columns: Name and Age; with columns: Name and exactly those', () => {
  assert.deepEqual(
    columnsOf(undefined).map(({ name }) => name),
    ['Name', 'Age'],
  )
  assert.deepEqual(
    columnsOf([{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }])
      .map(({ name, description }) => [name, description])
      .at(1),
    ['Size', 'Custom resource definition column (in JSONPath format): .spec.size'],
  )
})

test('cells by type: integers lose their fraction, wrong types are null, strings print any value, dates print ages', () => {
  const nowMs = Date.parse('2026-01-01T00:05:00Z')
  const cases: readonly [string, string, unknown][] = [
    ['integer', '.spec.size', 3],
    ['number', '.spec.size', 3.7],
    ['string', '.spec.size', '3.7'],
    ['string', '.spec.map', '{"a":1}'],
    ['integer', '.spec.on', null],
    ['boolean', '.spec.on', true],
    ['string', '.spec.none', null],
    ['date', '.metadata.creationTimestamp', '5m'],
    ['date', '.metadata.name', '<invalid>'],
  ]
  for (const [type, jsonPath, cell] of cases) {
    assert.equal(
      columnsOf([{ name: 'C', type, jsonPath }])[1]!.cell(OBJECT, nowMs),
      cell,
      `${type} ${jsonPath}`,
    )
  }
})
