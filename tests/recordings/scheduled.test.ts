/** Scenarios with a scheduler beside the controllers, and with metrics for autoscalers. */
import { test } from 'node:test'
import { serveMetrics } from './metrics-definitions.ts'
import { playScenarios } from './played-scenarios.ts'

test('pods are placed and autoscalers decide as upstream, with no more writes', { timeout: 1_500_000 }, (t) =>
  playScenarios(t, {
    folder: 'scheduled',
    controllers: ['*'],
    scheduler: true,
    prepare: serveMetrics,
    // Ours tries pods again after more events than upstream: docs/behaviour/simulation/scheduler.md, "Which events help".
    uncounted: new Set(['kube-scheduler']),
    player: (group) => group,
  }),
)
