import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelSelectorText } from './label-selector-text.ts'

test('a selector is printed as Go prints it, labels in order', () => {
  assert.equal(
    labelSelectorText({}),
    '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}',
  )
  const selector = {
    matchLabels: { b: '2', app: 'a' },
    matchExpressions: [
      { key: 'app', operator: 'In', values: ['a', 'b'] },
      { key: 'x', operator: 'DoesNotExist' },
    ],
  }
  assert.equal(
    labelSelectorText(selector),
    '&LabelSelector{MatchLabels:map[string]string{app: a,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[a b],},LabelSelectorRequirement{Key:x,Operator:DoesNotExist,Values:[],},},}',
  )
})
