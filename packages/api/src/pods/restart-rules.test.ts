import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayRestartAllContainers, restartActionFor } from './restart-rules.ts'

const rule = (action: string, operator: string, ...values: number[]) => ({
  action,
  exitCodes: { operator, values },
})

test('the first rule that knows the exit code says what happens', () => {
  const restartPolicyRules = [
    rule('Restart', 'In', 42),
    rule('RestartAllContainers', 'In', 42, 43),
    { action: 'Restart' },
    rule('Restart', 'NotIn', 0, 42),
  ]
  const actions = [42, 43, 1, 0].map((code) => restartActionFor({ restartPolicyRules }, code))
  assert.deepEqual(actions, ['Restart', 'RestartAllContainers', 'Restart', undefined])
  assert.equal(restartActionFor({}, 1), undefined)
})

test('a rule of any container may restart all of the pod', () => {
  const ruled = { restartPolicyRules: [rule('RestartAllContainers', 'In', 42)] }
  const other = { restartPolicyRules: [rule('Restart', 'In', 42)] }
  assert.equal(mayRestartAllContainers({ containers: [{}, ruled] }), true)
  assert.equal(mayRestartAllContainers({ containers: [{}], initContainers: [ruled] }), true)
  assert.equal(mayRestartAllContainers({ containers: [other] }), false)
  assert.equal(mayRestartAllContainers({}), false)
})
