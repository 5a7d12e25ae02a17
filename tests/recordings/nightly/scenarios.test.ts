/** As ../scenarios.test.ts, more of them: what takes too long for every change. */
import { test } from 'node:test'
import { playScenarios } from '../played-scenarios.ts'

test('the states and events of upstream are reached, with no more writes than it took', { timeout: 1_500_000 }, (t) =>
  playScenarios(t, {
    folder: 'nightly/scenarios',
    controllers: ['*', 'bootstrap-signer-controller', 'token-cleaner-controller'],
    featureGates: ['StorageVersionMigrator'],
    runtimeConfig: { 'storagemigration.k8s.io/v1beta1': true },
    player: () => 'all',
  }),
)
