/** `gyro up --feature-gates`: what is set reaches the API server and the controllers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

let gyro: GyroProcess
before(async () => {
  gyro = await startGyro(['--feature-gates=MaxUnavailableStatefulSet=true'])
})
after(() => gyro.stop())

test('a StatefulSet with maxUnavailable 2 renews two pods at once', async () => {
  const labels = { app: 'web' }
  const spec = (image: string) => ({
    replicas: 3,
    serviceName: 'web',
    selector: { matchLabels: labels },
    updateStrategy: { rollingUpdate: { maxUnavailable: 2 } },
    podManagementPolicy: 'Parallel',
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
  })
  const set = (image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: spec(image),
  })
  gyro.apply(set('nginx:1'))
  gyro.ok('rollout', 'status', 'sts/web', '--timeout=60s')
  assert.equal(gyro.json('get', 'sts', 'web').spec.updateStrategy.rollingUpdate.maxUnavailable, 2)
  // An image that is not found: its pods never become ready, and the third is left as it is.
  gyro.apply(set('nginx:broken'))
  const renewed = await eventually('two renewed pods', 30_000, () => {
    const { items } = gyro.json('get', 'pods', '-l', 'app=web')
    const names = items
      .filter((pod: { spec: { containers: { image: string }[] } }) =>
        pod.spec.containers.some(({ image }) => image === 'nginx:broken'),
      )
      .map((pod: { metadata: { name: string } }) => pod.metadata.name)
    return names.length >= 2 ? names : undefined
  })
  assert.deepEqual(renewed, ['web-1', 'web-2'])
})
