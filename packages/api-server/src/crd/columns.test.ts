import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnsOf } from './columns.ts'

const OBJECT = {
  metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z', labels: { 'a.b/c': 'l' } },
  spec: {
    size: 3.7,
    on: true,
    map: { b: 1, a: '<' },
    nothing: null,
    vast: 1e21,
    many: 123456789.5,
    dates: ['2026-01-01', '', 'null', '0001-01-01T00:00:00Z'],
  },
}

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
    ['integer', '.spec.size', 3n],
    ['number', '.spec.size', 3.7],
    ['string', '.spec.size', '3.7'],
    ['string', '.spec.map', '{"a":"\\u003c","b":1}'],
    ['string', '.spec.nothing', '<no value>'],
    ['string', '.spec.many', '1.234567895e+08'],
    ['integer', '.spec.nothing', null],
    ['integer', '.spec.vast', -9223372036854775808n],
    ['number', '.spec.vast', 1e21],
    ['integer', '.spec.on', null],
    ['boolean', '.spec.on', true],
    ['string', '.spec.none', null],
    ['date', '.metadata.creationTimestamp', '5m'],
    ['date', '.metadata.name', '<invalid>'],
    ['date', '.spec.dates[0]', '<invalid>'],
    ['date', '.spec.dates[1]', '<unknown>'],
    ['date', '.spec.dates[2]', '<unknown>'],
    ['date', '.spec.dates[3]', '<unknown>'],
    ['date', '.spec.size', null],
  ]
  for (const [type, jsonPath, cell] of cases) {
    assert.equal(
      columnsOf([{ name: 'C', type, jsonPath }])[1]!.cell(OBJECT, nowMs),
      cell,
      `${type} ${jsonPath}`,
    )
  }
})

test('a path that cannot be read leaves nothing but names', () => {
  const columns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Any', type: 'string', jsonPath: '.spec.list[?(@.a==1||@.b==1)]' },
  ]
  assert.deepEqual(
    columnsOf(columns).map(({ name }) => name),
    ['Name'],
  )
})
