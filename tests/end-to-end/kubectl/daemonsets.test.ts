/** What kubectl does with DaemonSets: rolling them out and back. Contract: docs/behaviour/controllers/daemonset-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, finish, gyro, rolloutStatus } from './session.ts'

before(begin)
after(finish)

function agent(image: string): object {
  const labels = { app: 'agent' }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
    },
  }
}

test('rollout of a DaemonSet: status, history, undo, restart', async () => {
  gyro.apply(agent('agent:1'))
  assert.match(
    gyro.ok('rollout', 'status', 'ds/agent'),
    /daemon set "agent" successfully rolled out\n$/,
  )
  const updated = await rolloutStatus(
    'ds/agent',
    () => {
      gyro.ok('set', 'image', 'ds/agent', 'c=agent:2')
      gyro.ok('annotate', 'ds', 'agent', 'kubernetes.io/change-cause=second')
    },
    /Waiting for daemon set "agent" rollout to finish: /,
  )
  assert.match(updated, /successfully rolled out\n$/)
  assert.match(gyro.ok('rollout', 'history', 'ds/agent'), /daemonset.apps\/agent[^]*\n1 [^]*\n2 /)
  assert.match(
    gyro.ok('rollout', 'history', 'ds/agent', '--revision=1'),
    /with revision #1[^]*Image:\s+agent:1\n/,
  )
  assert.match(gyro.ok('rollout', 'undo', 'ds/agent'), /daemonset.apps\/agent rolled back/)
  gyro.ok('rollout', 'status', 'ds/agent')
  assert.equal(gyro.json('get', 'ds', 'agent').spec.template.spec.containers[0].image, 'agent:1')
  assert.match(gyro.ok('rollout', 'history', 'ds/agent'), /\n2 [^]*\n3 /)
  gyro.ok('rollout', 'restart', 'ds/agent')
  gyro.ok('rollout', 'status', 'ds/agent')
  const { annotations } = gyro.json('get', 'ds', 'agent').spec.template.metadata
  assert.match(annotations['kubectl.kubernetes.io/restartedAt'], /^\d{4}-/)
  const nodes = gyro.json('get', 'nodes').items.length
  assert.match(gyro.ok('get', 'ds', 'agent', '--no-headers'), new RegExp(`^agent( +${nodes}){5} `))
})

test('drain leaves daemon pods where they are and says so', () => {
  const before = gyro.ok('get', 'pods', '-l', 'app=agent', '-o', 'name')
  assert.match(
    gyro.kubectl('drain', 'node-1', '--timeout=20s').stderr,
    /cannot delete DaemonSet-managed Pods/,
  )
  gyro.ok('drain', 'node-1', '--ignore-daemonsets', '--timeout=20s')
  assert.equal(gyro.ok('get', 'pods', '-l', 'app=agent', '-o', 'name'), before)
  gyro.ok('uncordon', 'node-1')
})

test('describe tells the story of a DaemonSet', () => {
  const text = gyro.ok('describe', 'ds', 'agent')
  assert.match(text, /Desired Number of Nodes Scheduled: \d/)
  assert.match(text, /Number of Nodes Misscheduled: 0/)
  assert.match(text, /Normal +SuccessfulCreate .*daemonset-controller +Created pod: agent-/)
})
