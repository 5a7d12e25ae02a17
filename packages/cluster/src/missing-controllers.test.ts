import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controllers } from '@gyropilot/controllers'
import { knownControllers } from '@gyropilot/manager/controller-names'
import { missingControllers } from './missing-controllers.ts'

test('missing is what is known, runs by default, and is not built', () => {
  const all = knownControllers.map(({ name }) => name)
  assert.deepEqual(missingControllers(['*'], all), [])
  const without = all.filter((name) => name !== 'job-controller')
  assert.deepEqual(missingControllers(['*'], without), ['job-controller'])
  assert.deepEqual(missingControllers(['*', '-job'], without), [])
  assert.deepEqual(missingControllers(['deployment-controller'], without), [])
  assert.deepEqual(missingControllers(['job'], without), ['job-controller'])
})

test('what is off by default or of a cloud is missed only when asked for', () => {
  const missing = missingControllers(['*'], [])
  assert.equal(missing.includes('token-cleaner-controller'), false)
  assert.equal(missing.includes('service-lb-controller'), false)
  assert.deepEqual(
    missingControllers(['token-cleaner-controller'], ['serviceaccount-token-controller']),
    ['token-cleaner-controller'],
  )
})

test('nothing that is built is called missing', () => {
  const missing = new Set(missingControllers())
  for (const { name } of controllers) assert.equal(missing.has(name), false, name)
})
