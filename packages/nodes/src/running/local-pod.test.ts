import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '@gyropilot/api'
import { localContainer, mayRestart, restartsAll } from './local-pod.ts'

const exits = (spec: Partial<Container>, policy: 'Always' | 'Never', exitCode: number): boolean =>
  mayRestart(
    localContainer({ name: 'c', ...spec }, 'main'),
    { spec: { containers: [], restartPolicy: policy } },
    exitCode,
  )

test('the policy of a container comes before that of its pod', () => {
  assert.equal(exits({}, 'Never', 1), false)
  assert.equal(exits({ restartPolicy: 'OnFailure' }, 'Never', 1), true)
  assert.equal(exits({ restartPolicy: 'Never' }, 'Always', 1), false)
})

test('a rule that knows the exit code comes before policies', () => {
  const rule = (operator: string, ...values: number[]): Partial<Container> => ({
    restartPolicy: 'Never',
    restartPolicyRules: [{ action: 'Restart', exitCodes: { operator, values } }],
  })
  assert.equal(exits(rule('In', 42, 43), 'Never', 43), true)
  assert.equal(exits(rule('In', 42, 43), 'Never', 1), false)
  assert.equal(exits(rule('NotIn', 42), 'Never', 1), true)
  assert.equal(exits(rule('NotIn', 42), 'Never', 42), false)
})

test('a rule may start all containers of the pod again, its own too', () => {
  const restartPolicyRules = [
    { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
  ]
  const spec = { name: 'c', restartPolicy: 'Never', restartPolicyRules }
  const container = localContainer(spec, 'main')
  assert.equal(restartsAll(container, 42), true)
  assert.equal(restartsAll(container, 1), false)
  assert.equal(exits(spec, 'Never', 42), true)
  assert.equal(exits(spec, 'Never', 1), false)
  const restarts = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }]
  const first = { ...spec, restartPolicyRules: [...restarts, ...restartPolicyRules] }
  assert.equal(restartsAll(localContainer(first, 'main'), 42), false)
})
