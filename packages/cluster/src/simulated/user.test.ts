/** What a user of a simulated cluster asks directly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { isTooManyRequests } from '@gyropilot/client'
import type { StatusError } from '@gyropilot/client'
import { createCluster } from './simulated-cluster.ts'

test(
  'who is told to ask again later is told so at once: a wait would be for a clock that nobody turns',
  {
    timeout: 60_000,
  },
  async () => {
    // Without a manager no budget is ever counted, so an eviction is to be asked for again in ten seconds.
    const cluster = await createCluster({ seed: 'eviction', nodes: 1, managers: 0 })
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default', namespace: 'default' },
    })
    const metadata = { name: 'web', namespace: 'default', labels: { app: 'web' } }
    await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        nodeName: 'node-1',
        automountServiceAccountToken: false,
        containers: [{ name: 'web', image: 'web:1' }],
      },
    })
    await cluster.create({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    })
    await cluster.advance(5_000)
    const startMs = cluster.virtualMs
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata }
    await assert.rejects(
      cluster.client
        .resource(resources.pods, 'default')
        .createSubresource('web', 'eviction', eviction),
      (error) =>
        isTooManyRequests(error) && (error as StatusError).status.details?.retryAfterSeconds === 10,
    )
    assert.ok(cluster.virtualMs - startMs < 1_000)
  },
)
