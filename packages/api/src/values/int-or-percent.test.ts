import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidIntOrPercentError, resolveIntOrPercent } from './int-or-percent.ts'

test('integers stay, percentages are rounded as asked', () => {
  assert.equal(resolveIntOrPercent(3, 10, 'up'), 3)
  assert.equal(resolveIntOrPercent(-3, 10, 'up'), -3)
  assert.equal(resolveIntOrPercent('25%', 10, 'up'), 3)
  assert.equal(resolveIntOrPercent('25%', 10, 'down'), 2)
  assert.equal(resolveIntOrPercent('100%', 7, 'up'), 7)
  assert.equal(resolveIntOrPercent('0%', 7, 'up'), 0)
})

test('nil and text that is no percentage are errors', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'nil value for IntOrString'],
    ['5', 'invalid value for IntOrString: invalid type: string is not a percentage'],
    [
      'x%',
      'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax',
    ],
  ]
  for (const [value, message] of cases) {
    assert.throws(() => resolveIntOrPercent(value, 10, 'up'), new InvalidIntOrPercentError(message))
  }
})
