import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findCondition,
  isConditionTrue,
  replaceCondition,
  setCondition,
  withoutCondition,
} from './conditions.ts'

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Up',
  message: 'm',
  lastTransitionTime: 't1',
}
const other = {
  type: 'Other',
  status: 'False',
  reason: 'Down',
  message: '',
  lastTransitionTime: 't1',
}

test('conditions are found by type; absent is not true', () => {
  assert.equal(findCondition([ready, other], 'Other'), other)
  assert.equal(findCondition(undefined, 'Other'), undefined)
  assert.equal(isConditionTrue([ready, other], 'Ready'), true)
  assert.equal(isConditionTrue([ready, other], 'Other'), false)
  assert.equal(isConditionTrue(null, 'Ready'), false)
})

test('replace by type leaves an unchanged status and reason untouched, message and times included', () => {
  const list = [ready, other]
  assert.equal(replaceCondition(list, { ...ready, message: 'new', lastTransitionTime: 't2' }), list)
})

test('replace by type puts the new entry at the end', () => {
  const changed = { ...ready, reason: 'Changed', lastTransitionTime: 't2' }
  assert.deepEqual(replaceCondition([ready, other], changed), [other, changed])
  assert.deepEqual(replaceCondition(undefined, changed), [changed])
})

test('the transition time is kept on demand while the status stays', () => {
  const changed = { ...ready, reason: 'Changed', lastTransitionTime: 't2' }
  const keep = { keepTransitionTime: true }
  assert.deepEqual(replaceCondition([ready], changed, keep), [
    { ...changed, lastTransitionTime: 't1' },
  ])
  const turned = { ...changed, status: 'False' }
  assert.deepEqual(replaceCondition([ready], turned, keep), [turned])
})

test('set in place moves the time only with the status', () => {
  const { lastTransitionTime: _, ...wanted } = { ...ready, message: 'new' }
  assert.deepEqual(setCondition([ready, other], wanted, 't2'), [
    { ...wanted, lastTransitionTime: 't1' },
    other,
  ])
  const turned = { ...wanted, status: 'False' }
  assert.deepEqual(setCondition([ready, other], turned, 't2'), [
    { ...turned, lastTransitionTime: 't2' },
    other,
  ])
  assert.deepEqual(setCondition(undefined, wanted, 't2'), [{ ...wanted, lastTransitionTime: 't2' }])
  const list = [ready]
  assert.equal(setCondition(list, { ...ready, lastTransitionTime: 't3' }, 't2'), list)
})

test('a condition can be taken away', () => {
  assert.deepEqual(withoutCondition([ready, other], 'Ready'), [other])
})
