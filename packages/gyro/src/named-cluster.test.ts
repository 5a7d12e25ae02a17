import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { FakeHost } from '@gyropilot/foundation/testing'
import { namedCluster } from './named-cluster.ts'
import type { RunningCluster } from './running/running-cluster.ts'

const NOTHING = { kubeconfig: '', context: '' }
const cluster = (kubeconfig: string): RunningCluster => ({
  name: 'gyro-shop',
  processId: 4711,
  processIdentity: 'x',
  folder: '/shop',
  args: [],
  since: '2026-01-01T00:00:00Z',
  version: 'v0.1.0',
  server: 'https://127.0.0.1:6443',
  kubeconfig,
  parts: [],
})

const MISSING: readonly (readonly [string, readonly RunningCluster[], string])[] = [
  [
    'nowhere near a cluster',
    [],
    'no kubeconfig names a cluster: set KUBECONFIG, or use --kubeconfig',
  ],
  [
    'beside a cluster that runs',
    [cluster('/shop/.gyropilot/kubeconfig')],
    "no kubeconfig names a cluster: set KUBECONFIG, or use --kubeconfig; that of this folder's cluster is /shop/.gyropilot/kubeconfig",
  ],
  [
    'beside parts that have joined the cluster of another kubeconfig',
    [cluster('')],
    'no kubeconfig names a cluster: set KUBECONFIG, or use --kubeconfig',
  ],
]
for (const [where, here, message] of MISSING)
  test(`without any kubeconfig, ${where}, it is said what to do`, async () => {
    await assert.rejects(
      namedCluster(NOTHING, new FakeHost(), () => here),
      (error) => {
        assert.ok(error instanceof GyropilotError)
        assert.equal(error.code, 'CLUSTER_NOT_NAMED')
        assert.equal(error.message, message)
        return true
      },
    )
  })

test('other faults of a kubeconfig are told as they are', async () => {
  await assert.rejects(
    namedCluster({ kubeconfig: '/none', context: '' }, new FakeHost(), () => []),
    /stat \/none: no such file or directory/,
  )
})
