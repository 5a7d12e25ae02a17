/** Scenarios whose states hang on the controllers alone: the player is the scheduler and the kubelet. */
import { test } from 'node:test'
import { playScenarios } from './played-scenarios.ts'

/** Groups with a player of their own: scenarios that go one after the other, or wait for scans. */
const SLOW: ReadonlySet<string> = new Set(['accounts-edges', 'autoscaler-edges', 'daemonset', 'pod-garbage-collector-edges', 'storage-version-migrator-edges'])

/** Its node would get pods of the DaemonSets that are played meanwhile: it comes after them. */
const ONE_MORE_NODE = 'node ttl annotation and pod cidr'

/** Which player has it: they play beside each other. */
function playerOf(group: string, scenario: string): string {
  if (scenario === ONE_MORE_NODE) return 'daemonset'
  if (SLOW.has(group)) return group
  return group.endsWith('-further') ? 'further' : ''
}

test('the states and events of upstream are reached, with no more writes than it took', { timeout: 1_500_000 }, (t) =>
  playScenarios(t, {
    folder: 'scenarios',
    controllers: ['*', 'selinux-warning-controller', 'bootstrap-signer-controller', 'token-cleaner-controller'],
    featureGates: ['StorageVersionMigrator'],
    runtimeConfig: { 'storagemigration.k8s.io/v1beta1': true },
    player: playerOf,
  }),
)
