import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProviderRegistry } from '@gyropilot/cloud-provider'
import type { CloudProvider, ProviderSurroundings } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { SeededRandom } from '@gyropilot/foundation'
import { FakeHost, RecordingLogger } from '@gyropilot/foundation/testing'
import { fakeInformers, testClock } from '@gyropilot/runtime/testing'
import type { AppWorld } from '../app-world.ts'
import { cloudControllerManager } from './cloud-controller-manager.ts'
import { knownCloudControllers } from './cloud-controller-names.ts'
import { isControllerEnabled, unknownItems } from '../controller-names.ts'
import { helpText } from '../flags/help.ts'
import { flagValueText, parseFlags } from '../flags/pflag.ts'
import { Options, validate } from '../options/options.ts'
import { definitionsOf } from '../program.ts'

const clock = testClock()
const providers = (made: CloudProvider = new InMemoryCloud({ clock, name: 'fake' })) =>
  new ProviderRegistry().register('fake', () => made)
const program = cloudControllerManager(providers())
const optionsOf = (...args: string[]) =>
  new Options(parseFlags(definitionsOf(program), args, program.name))
const check = (...args: string[]) =>
  validate(optionsOf('--cloud-provider=fake', ...args), (options) => program.problemsOf(options))

function world() {
  const host = new FakeHost()
  const logger = new RecordingLogger()
  const parts = { host, logger, clock, random: new SeededRandom('cloud') }
  return { host, logger, of: parts as unknown as AppWorld }
}

/** Flags of the page's table, and what they are without being given. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'cloud-provider': '',
  'cloud-config': '',
  'external-cloud-volume-plugin': '',
  controllers: '[*]',
  'controller-start-interval': '0s',
  'min-resync-period': '12h0m0s',
  'kube-api-qps': '20',
  'kube-api-burst': '30',
  'kube-api-content-type': 'application/vnd.kubernetes.protobuf',
  kubeconfig: '',
  master: '',
  'use-service-account-credentials': 'false',
  'allow-untagged-cloud': 'false',
  'cluster-name': 'kubernetes',
  'cluster-cidr': '',
  'allocate-node-cidrs': 'false',
  'cidr-allocator-type': 'RangeAllocator',
  'configure-cloud-routes': 'true',
  'route-reconciliation-period': '10s',
  'node-monitor-period': '5s',
  'node-status-update-frequency': '5m0s',
  'concurrent-node-syncs': '1',
  'concurrent-node-status-updates': '0',
  'concurrent-service-syncs': '1',
  'node-sync-period': '0s',
  'leader-elect': 'true',
  'leader-elect-lease-duration': '15s',
  'leader-elect-renew-deadline': '10s',
  'leader-elect-retry-period': '2s',
  'leader-elect-resource-lock': 'leases',
  'leader-elect-resource-name': 'cloud-controller-manager',
  'leader-elect-resource-namespace': 'kube-system',
  'enable-leader-migration': 'false',
  'leader-migration-config': '',
  profiling: 'true',
  'contention-profiling': 'false',
  'secure-port': '10258',
  'bind-address': '0.0.0.0',
  'cert-dir': '',
  'tls-cert-file': '',
  'tls-private-key-file': '',
  'authentication-kubeconfig': '',
  'authorization-kubeconfig': '',
  'authorization-always-allow-paths': '[/healthz,/readyz,/livez]',
  webhooks: '[]',
  'webhook-bind-address': '0.0.0.0',
  'webhook-secure-port': '10260',
  'webhook-cert-dir': '',
  'webhook-tls-cert-file': '',
  'webhook-tls-private-key-file': '',
  'webhook-tls-cipher-suites': '[]',
  'webhook-tls-min-version': '',
  'webhook-tls-curve-preferences': '[]',
  'webhook-disable-http2-serving': 'false',
  'service-cluster-ip-range': '',
  'node-cidr-mask-size': '0',
  'node-cidr-mask-size-ipv4': '0',
  'node-cidr-mask-size-ipv6': '0',
  'feature-gates': '',
  v: '0',
  'logging-format': 'text',
}

test('Given no flags, then all defaults equal the table', () => {
  const options = optionsOf()
  const definitions = new Map(definitionsOf(program).map((flag) => [flag.name, flag]))
  for (const [name, expected] of Object.entries(DEFAULTS)) {
    const flag = definitions.get(name)
    assert.ok(flag !== undefined, name)
    assert.equal(flagValueText(flag, options.values.get(name)!), expected, name)
  }
})

test('no flag stands twice, and none is without effect that has one here', () => {
  const names = definitionsOf(program).map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  const unused = definitionsOf(program).flatMap((flag) => (flag.unused ? [flag.name] : []))
  for (const name of [
    'cloud-provider',
    'cloud-config',
    'configure-cloud-routes',
    'concurrent-service-syncs',
    'route-reconciliation-period',
    'allow-untagged-cloud',
  ])
    assert.ok(!unused.includes(name), name)
})

test('Given every flag set, then the parsed configuration equals the input', async () => {
  const options = optionsOf(
    '--cloud-provider=fake',
    '--cluster-name=c',
    '--cluster-cidr=10.0.0.0/8',
    '--configure-cloud-routes=false',
    '--route-reconciliation-period=11s',
    '--node-monitor-period=6s',
    '--node-status-update-frequency=7m',
    '--concurrent-node-syncs=2',
    '--concurrent-node-status-updates=3',
    '--concurrent-service-syncs=4',
    '--allocate-node-cidrs',
    '--node-cidr-mask-size=25',
    '--feature-gates=CloudControllerManagerWatchBasedRoutesReconciliation=true',
  )
  const prepared = await program.prepare(options, world().of)
  const { cloud, cloudNode, cloudNodeLifecycle, nodeIpam, nodeRoute, serviceLb, featureGates } =
    await prepared.configuration({} as never)
  assert.deepEqual([cloud.provider?.name, cloud.clusterName], ['fake', 'c'])
  assert.deepEqual(cloudNode, {
    concurrentNodeSyncs: 2,
    concurrentNodeStatusUpdates: 3,
    nodeStatusUpdateFrequencyMs: 420_000,
  })
  assert.deepEqual(cloudNodeLifecycle, { nodeMonitorPeriodMs: 6_000 })
  assert.deepEqual(nodeRoute, {
    configureCloudRoutes: false,
    clusterCidr: '10.0.0.0/8',
    routeReconciliationPeriodMs: 11_000,
  })
  assert.deepEqual(serviceLb, { concurrentServiceSyncs: 4 })
  assert.deepEqual(
    [nodeIpam.allocateNodeCidrs, nodeIpam.clusterCidr, nodeIpam.nodeCidrMaskSize],
    [true, '10.0.0.0/8', 25],
  )
  assert.equal(featureGates['CloudControllerManagerWatchBasedRoutesReconciliation'], true)
  const shown = program.componentConfiguration(options) as Record<string, unknown>
  assert.equal(shown['kind'], 'CloudControllerManagerConfiguration')
  assert.equal(shown['apiVersion'], 'cloudcontrollermanager.config.k8s.io/v1alpha1')
  assert.deepEqual(shown['NodeController'], {
    ConcurrentNodeSyncs: 2,
    ConcurrentNodeStatusUpdates: 3,
  })
  assert.equal(shown['NodeStatusUpdateFrequency'], '7m0s')
  assert.deepEqual(shown['ServiceController'], { ConcurrentServiceSyncs: 4 })
  const { CloudProvider, ClusterName } = shown['KubeCloudShared'] as Record<string, unknown>
  assert.deepEqual([CloudProvider, ClusterName], [{ Name: 'fake', CloudConfigFile: '' }, 'c'])
})

const enabled = (...items: string[]) =>
  knownCloudControllers.filter((known) => isControllerEnabled(known, items)).map(({ name }) => name)

test('Given aliases in `--controllers`, then they resolve to the canonical names', () => {
  assert.deepEqual(enabled('cloud-node', 'service'), [
    'cloud-node-controller',
    'service-lb-controller',
  ])
  assert.deepEqual(enabled('*', '-route', '-cloud-node-lifecycle', '-nodeipam'), [
    'cloud-node-controller',
    'service-lb-controller',
  ])
  assert.deepEqual(enabled('-route', 'node-route-controller'), [])
  assert.deepEqual(unknownItems(['deployment', '-cloud-node'], knownCloudControllers), [
    '"deployment" is not in the list of known controllers',
  ])
})

test('Given the set of names, then each follows the naming rule and matches its alias', () => {
  for (const { name, alias } of knownCloudControllers) {
    assert.match(name, /^[a-z]+(-[a-z]+)*-controller$/)
    assert.deepEqual(enabled(alias!), [name])
    const descriptor = program.descriptors.find((built) => built.name === name)
    assert.ok(descriptor !== undefined, name)
    assert.ok(descriptor.aliases.includes(alias!), name)
    assert.equal(descriptor.enabledByDefault, true)
  }
})

test('Given invalid worker numbers, then validation fails', () => {
  assert.doesNotThrow(() => check('--concurrent-node-status-updates=0'))
  for (const flag of [
    'concurrent-node-syncs=0',
    'concurrent-node-syncs=-1',
    'concurrent-node-status-updates=-1',
  ]) {
    const [name] = flag.split('=')
    assert.throws(() => check(`--${flag}`), new RegExp(`${name} must be`), flag)
  }
})

const refusals: readonly (readonly [string, RegExp])[] = [
  ['--cloud-provider=', /^--cloud-provider cannot be empty$/],
  [
    '--cidr-allocator-type=CloudAllocator',
    /^built-in cloud providers are disabled. The ipam CloudAllocator is not available$/,
  ],
  [
    '--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16,fd00::/108',
    /^--service-cluster-ip-range can not contain more than two entries$/,
  ],
  ['--controllers=nosuch', /^"nosuch" is not in the list of known controllers$/],
  ['--webhooks=nosuch', /^"nosuch" is not in the list of known webhooks$/],
  [
    '--webhook-secure-port=10258',
    /--webhook-secure-port cannot be the same value as --secure-port/,
  ],
  ['--webhook-secure-port=70000', /--webhook-secure-port 70000 must be between/],
  ['--webhook-tls-min-version=TLS9', /unknown tls version "TLS9"/],
  ['--webhook-tls-cert-file=/a', /missing filename for serving cert/],
  ['--leader-elect-resource-lock=endpoints', /resourceLock value must be "leases"/],
]

for (const [flag, message] of refusals) {
  test(`${flag} is refused`, () => {
    assert.throws(
      () => check(flag),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'OPTIONS_INVALID')
        return message.test(error.message)
      },
    )
  })
}

test('Given options with webhooks on and off, then the built configuration has or lacks the webhook server', () => {
  const serves = (...args: string[]) => program.servesWebhooks!(optionsOf(...args))
  const gate = '--feature-gates=CloudControllerManagerWebhook=true'
  assert.equal(serves(), false)
  assert.equal(serves(gate), true)
  assert.equal(serves(gate, '--webhook-secure-port=0'), false)
})

test('ports of 0 are equal and allowed', () => {
  assert.doesNotThrow(() => check('--secure-port=0', '--webhook-secure-port=0', '--webhooks=*'))
})

test('a provider that is not known, or is called external, ends the process with the names that are', async () => {
  for (const name of ['external', 'aws']) {
    await assert.rejects(program.prepare(optionsOf(`--cloud-provider=${name}`), world().of), {
      code: 'CLOUD_PROVIDER_UNKNOWN',
      message: `unknown cloud provider ${JSON.stringify(name)}: registered: fake`,
    })
  }
})

test('the text of --cloud-config is the provider’s, and a file that cannot be read ends the process', async () => {
  const texts: unknown[] = []
  const reading = cloudControllerManager(
    new ProviderRegistry().register('fake', ({ config }) => {
      texts.push(config)
      return new InMemoryCloud({ clock })
    }),
  )
  const { host, of } = world()
  host.files.set('/cloud.conf', 'zone = a')
  await reading.prepare(optionsOf('--cloud-provider=fake', '--cloud-config=/cloud.conf'), of)
  await reading.prepare(optionsOf('--cloud-provider=fake'), of)
  assert.deepEqual(texts, ['zone = a', undefined])
  const missing = optionsOf('--cloud-provider=fake', '--cloud-config=/missing')
  await assert.rejects(reading.prepare(missing, of), { code: 'OPTIONS_INVALID' })
})

test('a provider without a cluster ID ends the process, unless that is allowed', async () => {
  const untagged: CloudProvider = { name: 'fake', hasClusterId: false }
  const { prepare } = cloudControllerManager(providers(untagged))
  await assert.rejects(prepare(optionsOf('--cloud-provider=fake'), world().of), {
    code: 'CLOUD_CLUSTER_ID_MISSING',
  })
  const { of, logger } = world()
  await prepare(optionsOf('--cloud-provider=fake', '--allow-untagged-cloud'), of)
  assert.match(JSON.stringify(logger.lines), /without a ClusterID/)
})

test('a leader initialises its provider once, before it hands it informers, also under two locks', async () => {
  const told: string[] = []
  const provider: CloudProvider = {
    name: 'fake',
    hasClusterId: true,
    initialize: ({ client }: ProviderSurroundings) =>
      void told.push(`initialize ${String(client('x'))}`),
    setInformers: () => void told.push('informers'),
  }
  const { prepare } = cloudControllerManager(providers(provider))
  const prepared = await prepare(optionsOf('--cloud-provider=fake'), world().of)
  assert.deepEqual(told, [])
  const { signal } = new AbortController()
  const surroundings = {
    client: (name: string) => `as ${name}` as never,
    informers: fakeInformers(),
    signal,
  }
  await prepared.beforeControllers!(surroundings)
  await prepared.beforeControllers!(surroundings)
  assert.deepEqual(told, ['initialize as x', 'informers'])
})

test('a provider that cannot be initialised ends the process', async () => {
  const provider: CloudProvider = {
    name: 'fake',
    hasClusterId: true,
    initialize: () => Promise.reject(new Error('no credentials')),
  }
  const prepared = await cloudControllerManager(providers(provider)).prepare(
    optionsOf('--cloud-provider=fake'),
    world().of,
  )
  const { signal } = new AbortController()
  const surroundings = { client: () => assert.fail(), informers: fakeInformers(), signal }
  await assert.rejects(prepared.beforeControllers!(surroundings), {
    code: 'CLOUD_PROVIDER_FAILED',
    message: 'could not initialize cloud provider "fake": no credentials',
  })
})

test('--help names the clouds and the controllers', () => {
  const text = helpText(program, 120)
  assert.match(text, /Cloud providers of this program: fake\./)
  assert.match(text, /--cloud-provider string/)
  assert.match(text, /service-lb-controller/)
  const none = helpText(cloudControllerManager(new ProviderRegistry()), 120)
  assert.match(none, /Cloud providers of this program: none\./)
})
