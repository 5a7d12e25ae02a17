import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunningCluster } from '../running/running-cluster.ts'
import { alreadyThere } from './detach.ts'
import { upOptions } from './up-options.ts'

test('a cluster that runs is refused with other flags, or when its kubeconfig is gone', () => {
  const running: RunningCluster = {
    name: 'gyro-a',
    processId: 7,
    processIdentity: 'x',
    folder: '/a',
    args: ['--nodes=2'],
    since: '2026-01-01T00:00:00Z',
    version: '0.1.0',
    server: 'https://127.0.0.1:1',
    kubeconfig: '/nowhere/kubeconfig',
    parts: [],
  }
  const again = (...args: readonly string[]) => alreadyThere(running, args, upOptions(args))
  assert.throws(() => again('--nodes=3'), { code: 'CLUSTER_RUNNING', message: /with other flags/ })
  assert.throws(() => again('--nodes=2'), {
    code: 'CLUSTER_RUNNING',
    message:
      /its kubeconfig \/nowhere\/kubeconfig is gone: gyro down stops it, then start it again/,
  })
})
