import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageText, statusText } from './status-text.ts'

test('what is known is shown, each on its line', () => {
  const common = {
    name: 'gyro-shop',
    processId: 7,
    processIdentity: '',
    folder: '/home/a/shop',
    args: [],
    since: '2026-01-01T00:00:00Z',
    version: '1.2.3',
    server: 'https://127.0.0.1:6443',
    kubeconfig: '/home/a/shop/.gyropilot/kubeconfig',
    parts: ['api-server', '2 simulated nodes'],
  }
  const now = Date.UTC(2026, 0, 1, 0, 5)
  assert.equal(
    statusText(
      {
        ...common,
        dataDir: '',
        memoryBytes: 150 * 2 ** 20,
        nodes: { total: 2, ready: 1 },
        pods: { total: 5, running: 4 },
        merged: '/home/a/.kube/config',
        log: '/l',
      },
      now,
    ),
    `https://127.0.0.1:6443  process 7
  folder      /home/a/shop
  since       2026-01-01T00:00:00Z, 5 minutes ago
  version     gyro v1.2.3, Kubernetes v1.36.2
  running     api-server, 2 simulated nodes
  nodes       2, 1 ready
  pods        5, 4 running
  memory      150 MiB
  data        in memory
  kubeconfig  /home/a/shop/.gyropilot/kubeconfig
  context     gyro-shop of /home/a/.kube/config
  log         /l
`,
  )
  const silent = statusText(
    { ...common, kubeconfig: '', memoryBytes: undefined, problem: 'it does not answer within 3 s' },
    now,
  )
  assert.match(silent, /^ {2}problem {5}it does not answer within 3 s$/m)
  assert.doesNotMatch(silent, /nodes {6}|memory|data|kubeconfig|context|log/)
})

for (const [ms, text] of [
  [-5, '0 seconds ago'],
  [1_999, '1 second ago'],
  [119_999, '119 seconds ago'],
  [120_000, '2 minutes ago'],
  [7_200_000, '2 hours ago'],
  [172_800_000, '2 days ago'],
] as const)
  test(`${ms} ms are ${text}`, () => assert.equal(ageText(ms), text))
