import assert from 'node:assert/strict'
import { test } from 'node:test'
import { componentConfiguration } from './component-configuration.ts'
import { controllersConfiguration } from './controllers-configuration.ts'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { defaultLeaderMigration } from '../election/leader-migration.ts'
import { Options } from './options.ts'
import { recordedComponentConfiguration } from './recorded-component-configuration.ts'

type Tree = { readonly [name: string]: Tree }
const optionsOf = (...args: string[]) => new Options(parseFlags(flagDefinitions, args))
const configz = (...args: string[]) => componentConfiguration(optionsOf(...args)) as Tree

test('/configz without flags is what kube-controller-manager 1.36 shows, in its order', () => {
  assert.equal(JSON.stringify(configz()), JSON.stringify(recordedComponentConfiguration))
})

test('/configz shows what flags set', () => {
  const shown = configz(
    '--kube-api-qps=7.5',
    '--service-cluster-ip-range=10.96.0.0/12,fd00::/108',
    '--horizontal-pod-autoscaler-downscale-stabilization=90s',
    '--cluster-signing-kubelet-client-cert-file=/pki/ca.crt',
    '--controllers=-ttl,*,csrsigning',
  )
  assert.deepEqual(shown['Generic']!['Controllers'], [
    '-ttl-controller',
    '*',
    'certificatesigningrequest-signing-controller',
  ])
  assert.equal(shown['Generic']!['ClientConnection']!['qps'], 7.5)
  assert.equal(shown['NodeIPAMController']!['ServiceCIDR'], '10.96.0.0/12')
  assert.equal(shown['NodeIPAMController']!['SecondaryServiceCIDR'], 'fd00::/108')
  assert.equal(
    shown['HPAController']!['HorizontalPodAutoscalerDownscaleStabilizationWindow'],
    '1m30s',
  )
  assert.deepEqual(shown['CSRSigningController']!['KubeletClientSignerConfiguration'], {
    CertFile: '/pki/ca.crt',
    KeyFile: '',
  })
})

test('/configz shows the leader migration', () => {
  const options = optionsOf('--enable-leader-migration')
  const { Generic } = componentConfiguration(options, defaultLeaderMigration) as Tree
  assert.equal(Generic!['LeaderMigrationEnabled'], true)
  assert.deepEqual(Generic!['LeaderMigration'], {
    leaderName: 'cloud-provider-extraction-migration',
    resourceLock: 'leases',
    controllerLeaders: [
      { name: 'route-controller', component: '*' },
      { name: 'service-controller', component: '*' },
      { name: 'cloud-node-lifecycle-controller', component: '*' },
    ],
  })
})

test('every flag of a controller that runs here reaches its configuration', () => {
  const options = optionsOf(
    '--concurrent-namespace-syncs=3',
    '--namespace-sync-period=1m',
    '--concurrent-deployment-syncs=4',
    '--concurrent-replicaset-syncs=6',
    '--concurrent-gc-syncs=7',
    '--enable-garbage-collector=false',
    '--concurrent-service-endpoint-syncs=8',
    '--max-endpoints-per-slice=9',
    '--concurrent-cron-job-syncs=11',
    '--concurrent-serviceaccount-token-syncs=10',
    '--terminated-pod-gc-threshold=10',
    '--concurrent-daemonset-syncs=5',
    '--endpointslice-updates-batch-period=2s',
    '--feature-gates=PodDeletionCost=false',
  )
  const { featureGates, ...configuration } = controllersConfiguration(options, {
    rootCaPem: 'PEM',
    serviceAccountPrivateKeyPem: 'KEY',
    readTextFile: () => Promise.resolve(''),
    localTimeZone: 'Europe/Berlin',
  })
  assert.equal(featureGates['PodDeletionCost'], false)
  assert.equal(featureGates['TaintTolerationComparisonOperators'], false)
  const { namespace, deployment, replicaSet, garbageCollector, endpointSlice, rootCaPublisher } =
    configuration
  assert.deepEqual(namespace, { concurrentNamespaceSyncs: 3, namespaceSyncPeriodMs: 60_000 })
  assert.equal(deployment.concurrentDeploymentSyncs, 4)
  assert.equal(replicaSet.concurrentReplicaSetSyncs, 6)
  assert.deepEqual(garbageCollector, { enableGarbageCollector: false, concurrentGcSyncs: 7 })
  assert.equal(endpointSlice.concurrentServiceEndpointSyncs, 8)
  assert.equal(endpointSlice.maxEndpointsPerSlice, 9)
  assert.equal(endpointSlice.endpointUpdatesBatchPeriodMs, 2_000)
  assert.equal(configuration.daemonSet.concurrentDaemonSetSyncs, 5)
  assert.equal(configuration.podGarbageCollector.terminatedPodThreshold, 10)
  assert.equal(rootCaPublisher.caBundle, 'PEM')
  assert.deepEqual(configuration.cronJob, {
    concurrentCronJobSyncs: 11,
    localTimeZone: 'Europe/Berlin',
  })
  assert.deepEqual(configuration.serviceAccountToken, {
    privateKeyPem: 'KEY',
    rootCaPem: 'PEM',
    concurrentTokenSyncs: 10,
  })
})
