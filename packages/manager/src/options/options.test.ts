import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gateWarnings } from './feature-gates.ts'
import { helpText } from '../flags/help.ts'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { kubeControllerManager } from '../kube-controller-manager.ts'
import { Options, validate, validateGates, validateLogging, validateServing } from './options.ts'

const optionsOf = (...args: string[]) => new Options(parseFlags(flagDefinitions, args))
const check = (...args: string[]) => validate(optionsOf(...args))
const checkServing = (...args: string[]) => validateServing(optionsOf(...args))
const checkLogging = (...args: string[]) => validateLogging(optionsOf(...args))
const checkGates = (...args: string[]) => validateGates(optionsOf(...args))

test('the defaults are valid', () => {
  assert.doesNotThrow(() => check())
})

test('Given `--leader-elect-resource-lock=endpoints`, when started, then exit 1', () => {
  assert.throws(() => check('--leader-elect-resource-lock=endpoints'), {
    exitCode: 1,
    message: 'resourceLock value must be "leases"',
  })
  assert.doesNotThrow(() => check('--leader-elect-resource-lock=endpoints', '--leader-elect=false'))
})

test('Given cloud-provider=aws, or cidr-allocator-type=CloudAllocator, when validated, then error; external and RangeAllocator pass', () => {
  assert.throws(() => check('--cloud-provider=aws'), {
    message:
      'cloud provider "aws" was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider',
  })
  for (const type of ['CloudAllocator', 'IPAMFromCluster', 'IPAMFromCloud', 'Nonsense'])
    assert.throws(() => check(`--cidr-allocator-type=${type}`, '--allocate-node-cidrs=false'), {
      exitCode: 1,
      message: `built-in cloud providers are disabled. The ipam ${type} is not available`,
    })
  assert.doesNotThrow(() =>
    check('--cloud-provider=external', '--cidr-allocator-type=RangeAllocator'),
  )
})

test('Given both a general and a specific signing file, when validated, then error', () => {
  const general = ['--cluster-signing-cert-file=/a', '--cluster-signing-key-file=/b']
  const specific = [
    '--cluster-signing-kubelet-client-cert-file=/c',
    '--cluster-signing-kubelet-client-key-file=/d',
  ]
  assert.throws(
    () => check(...general, ...specific),
    /: cannot specify --cluster-signing-\{cert,key\}-file and other --cluster-signing-\*-file flags at the same time$/,
  )
  assert.doesNotThrow(() => check(...general))
  assert.doesNotThrow(() => check(...specific))
})

test('of a pair of signing files half is refused, in the words that upstream has for the signer', () => {
  const refused = {
    'kubelet-serving-cert': '"cluster-signing-kubelet-serving": cannot specify cert without key',
    'kubelet-client-key':
      '"cluster-signing-kube-apiserver-client": cannot specify key without cert',
    'kube-apiserver-client-cert':
      '"cluster-signing-kube-apiserver": cannot specify cert without key',
    'legacy-unknown-key': '"cluster-signing-legacy-unknown": cannot specify key without cert',
  }
  for (const [flag, message] of Object.entries(refused))
    assert.throws(() => check(`--cluster-signing-${flag}-file=/a`), { message })
  for (const half of ['cert', 'key'])
    assert.doesNotThrow(() => check(`--cluster-signing-${half}-file=/a`), 'nothing is signed then')
})

test('all problems are told at once, in upstream’s words and order', () => {
  const given = [
    '--emulated-version=1.35',
    '--min-compatibility-version=1.36',
    '--controllers=nope',
    '--cloud-provider=z',
    '--cidr-allocator-type=q',
    '--leader-elect-resource-lock=e',
    '--show-hidden-metrics-for-version=1.3',
    '--disabled-metrics=a,-',
    '--cluster-signing-cert-file=a',
    '--cluster-signing-legacy-unknown-cert-file=b',
    '--service-cluster-ip-range=a,b,c',
    '--attach-detach-reconcile-sync-period=1ms',
    '--max-endpoints-per-slice=0',
    '--concurrent-service-endpoint-syncs=0',
    '--mirroring-concurrent-service-endpoint-syncs=0',
    '--mirroring-max-endpoints-per-subset=0',
    '--concurrent-daemonset-syncs=0',
    '--concurrent-statefulset-syncs=0',
    '--concurrent-job-syncs=0',
    '--concurrent-cron-job-syncs=0',
    '--concurrent-horizontal-pod-autoscaler-syncs=0',
    '--concurrent-ephemeralvolume-syncs=0',
    '--concurrent-resourceclaim-syncs=0',
    '--concurrent-device-taint-eviction-syncs=-1',
    '--secure-port=-1',
    '--requestheader-username-headers= ',
    '--requestheader-uid-headers=a',
  ]
  const told = [
    'minCompatibilityVersion version 1.36 is not between [1.33, 1.35]',
    'resourceLock value must be "leases"',
    '"nope" is not in the list of known controllers',
    'duration time must be greater than one second as set via command line option reconcile-sync-loop-period',
    '"cluster-signing-legacy-unknown": cannot specify cert without key',
    'cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same time',
    'concurrent-daemonset-syncs must be greater than 0, but got 0',
    'concurrent-device-taint-eviction-syncs must be greater than zero, got -1',
    'concurrent-resourceclaim-syncs must be larger than 0, got 0',
    'concurrent-statefulset-syncs must be greater than 0, but got 0',
    'concurrent-service-endpoint-syncs must not be less than 1, but got 0',
    'max-endpoints-per-slice must not be less than 1, but got 0',
    'mirroring-concurrent-service-endpoint-syncs must not be less than 1, but got 0',
    'mirroring-max-endpoints-per-subset must not be less than 1, but got 0',
    'concurrent-ephemeralvolume-syncs must be greater than 0, but got 0',
    'concurrent-horizontal-pod-autoscaler-syncs must be greater than 0, but got 0',
    'concurrent-job-syncs must be greater than 0, but got 0',
    'concurrent-cron-job-syncs must be greater than 0, but got 0',
    '--service-cluster-ip-range can not contain more than two entries',
    '--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port',
    'empty value in "requestheader-username-headers"',
    '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work',
    `metrics.showHiddenMetricsForVersion: Invalid value: "1.3": must be omitted or have the value '1.35'; only the previous minor version is allowed`,
    'metrics.disabledMetrics: Invalid value: ["a","-"]: must be fully qualified metric names matching "^[a-zA-Z_:][a-zA-Z0-9_:]*$", got "-"',
    'cloud provider "z" was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider',
    'built-in cloud providers are disabled. The ipam q is not available',
  ]
  assert.throws(() => check(...given), { message: `[${told.join(', ')}]` })
})

test('Given `--controllers=-*` or `nosuch`, when started, then exit 1 naming the item', () => {
  for (const [item, named] of [
    ['-*', '*'],
    ['nosuch', 'nosuch'],
  ] as const) {
    assert.throws(() => check(`--controllers=${item}`), {
      exitCode: 1,
      message: `"${named}" is not in the list of known controllers`,
    })
  }
})

test("kubeadm's arguments are valid as they are", () => {
  const folder = '/etc/kubernetes'
  const given = [
    '--allocate-node-cidrs=true',
    `--authentication-kubeconfig=${folder}/controller-manager.conf`,
    `--authorization-kubeconfig=${folder}/controller-manager.conf`,
    '--bind-address=127.0.0.1',
    `--client-ca-file=${folder}/pki/ca.crt`,
    '--cluster-cidr=10.244.0.0/16,fd00:10:244::/56',
    '--cluster-name=kubernetes',
    `--cluster-signing-cert-file=${folder}/pki/ca.crt`,
    `--cluster-signing-key-file=${folder}/pki/ca.key`,
    '--controllers=*,bootstrapsigner,tokencleaner',
    `--kubeconfig=${folder}/controller-manager.conf`,
    '--leader-elect=true',
    `--requestheader-client-ca-file=${folder}/pki/front-proxy-ca.crt`,
    `--root-ca-file=${folder}/pki/ca.crt`,
    `--service-account-private-key-file=${folder}/pki/sa.key`,
    '--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112',
    '--use-service-account-credentials=true',
  ]
  assert.doesNotThrow(() => checkGates(...given))
  assert.doesNotThrow(() => check(...given))
  const options = optionsOf(...given)
  assert.equal(options.given.size, given.length)
  assert.equal(options.text('bind-address'), '127.0.0.1')
  assert.deepEqual(options.list('controllers'), ['*', 'bootstrapsigner', 'tokencleaner'])
})

test('versions are read as major.minor of kube, once', () => {
  const refused = {
    '--emulated-version=new': 'could not parse "new" as version',
    '--emulated-version=kube=1.35.2': 'patch version not allowed, got: kube=1.35.2',
    '--emulated-version=1.34,kube=1.35': 'duplicate version flag, kube=1.34 and kube=1.35',
    '--min-compatibility-version=other=1.34': 'component not registered: other',
    '--emulated-version=v1.35.2': 'patch version not allowed, got: kube=1.35.2',
    '--emulated-version=1': 'illegal version string "1"',
    '--emulated-version=01.34': 'illegal zero-prefixed version component "01" in "01.34"',
    '--emulated-version=a=b=c': 'could not parse "b=c" as version',
  }
  for (const [arg, message] of Object.entries(refused))
    assert.throws(() => checkGates(arg), { exitCode: 1, message })
  assert.doesNotThrow(() => checkGates('--emulated-version=v1.35'))
})

test('an unknown feature gate, and locked ones set otherwise, are refused in one line', () => {
  assert.throws(() => checkGates('--feature-gates=NoSuchGate=true'), {
    message: 'unrecognized feature gate: NoSuchGate',
  })
  assert.throws(() => checkGates('--feature-gates=VolumeAttributesClass=false'), {
    message: 'cannot set feature gate VolumeAttributesClass to false, feature is locked to true',
  })
  assert.throws(
    () => checkGates('--feature-gates=AllowOverwriteTerminationGracePeriodSeconds=true'),
    /feature is locked to false/,
  )
  assert.doesNotThrow(() =>
    checkGates('--feature-gates=VolumeAttributesClass=true,PodDeletionCost=false'),
  )
})

test('gates of other components are accepted: one value is often given to a whole control plane', () => {
  assert.doesNotThrow(() =>
    checkGates(
      '--feature-gates=KubeletTracing=true,MemoryQoS=true,:KubeletSeparateDiskGC=false,KMSv1=true',
    ),
  )
})

test('a gate that is on without what it builds on is refused, as kube-controller-manager says it', () => {
  const refused = {
    'WorkloadWithJob=true':
      'WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]',
    'PodLevelResources=false':
      'InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources]',
    'GangScheduling=true,WorkloadAwarePreemption=true':
      'GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]',
    'ContainerRestartRules=false,NodeDeclaredFeatures=false,InPlacePodLevelResourcesVerticalScaling=false,InPlacePodVerticalScalingInitContainers=false,ExtendWebSocketsToKubelet=false':
      'RestartAllContainersOnContainerExits is enabled, but depends on features that are disabled: [ContainerRestartRules NodeDeclaredFeatures]',
    'WorkloadWithJob=true,ResourceHealthStatus=false':
      '[ResourceHealthStatusMessage is enabled, but depends on features that are disabled: [ResourceHealthStatus], WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]]',
  }
  for (const [gates, message] of Object.entries(refused))
    assert.throws(() => checkGates(`--feature-gates=${gates}`), { exitCode: 1, message }, gates)
  for (const gates of [
    'WorkloadWithJob=true,GenericWorkload=true',
    'AllAlpha=true',
    'AllBeta=false',
  ])
    assert.doesNotThrow(() => checkGates(`--feature-gates=${gates}`), gates)
})

test('gates that 1.36 knows no more are unknown, those that are settled take the other value only where upstream takes it', () => {
  for (const gone of ['TopologyAwareHints', 'HonorPVReclaimPolicy', 'CPUCFSQuotaPeriod'])
    assert.throws(() => checkGates(`--feature-gates=${gone}=true`), {
      message: `unrecognized feature gate: ${gone}`,
    })
  for (const [gate, locked] of [
    ['SELinuxMountReadWriteOncePod', true],
    ['DisableNodeKubeProxyVersion', true],
    ['SeparateCacheWatchRPC', false],
    ['GitRepoVolumeDriver', false],
  ] as const)
    assert.throws(() => checkGates(`--feature-gates=${gate}=${!locked}`), {
      message: `cannot set feature gate ${gate} to ${!locked}, feature is locked to ${locked}`,
    })
  for (const free of [
    'AllowServiceExternalIPs',
    'CustomCPUCFSQuotaPeriod',
    'DRAPrioritizedList',
    'InformerResourceVersion',
    'MutatingAdmissionPolicy',
    'ServiceCIDRStatusFieldWiping',
    'DisableCPUQuotaWithExclusiveCPUs',
  ])
    assert.doesNotThrow(() => checkGates(`--feature-gates=${free}=false`), free)
})

test('gates that are settled or on their way out are told', () => {
  assert.deepEqual(
    gateWarnings(
      optionsOf('--feature-gates=KMSv1=true,NodeSwap=true,PodDeletionCost=true').gates(),
    ),
    [
      {
        message:
          'Warning: setting deprecated feature gate. It will be removed in a future release.',
        featureGate: 'KMSv1',
        value: true,
      },
      {
        message: 'Warning: setting GA feature gate. It will be removed in a future release.',
        featureGate: 'NodeSwap',
        value: true,
      },
    ],
  )
})

test('--help lists the alpha and beta gates, one to a line', () => {
  const lines = helpText(kubeControllerManager, 100).split('\n')
  for (const line of [
    'kube:AllAlpha=true|false (ALPHA - default=false)',
    'kube:MaxUnavailableStatefulSet=true|false (BETA - default=false)',
    'kube:StaleControllerConsistencyJob=true|false (BETA - default=true)',
  ])
    assert.ok(lines.includes(`${' '.repeat(16)}${line}`), line)
  assert.ok(!lines.some((line) => line.includes('kube:NodeSwap=')))
})

test('a gate has its default, its stage of AllAlpha or AllBeta, or what is set', () => {
  const isOn = (gate: string, ...args: string[]) => optionsOf(...args).isGateOn(gate)
  assert.equal(isOn('PodDeletionCost'), true)
  assert.equal(isOn('StorageVersionAPI'), false)
  assert.equal(isOn('StorageVersionAPI', '--feature-gates=AllAlpha=true'), true)
  assert.equal(
    isOn('StorageVersionAPI', '--feature-gates=AllAlpha=true,StorageVersionAPI=false'),
    false,
  )
  assert.equal(isOn('PodDeletionCost', '--feature-gates=AllBeta=false'), false)
  assert.equal(isOn('VolumeAttributesClass', '--feature-gates=AllBeta=false'), true)
})

test('alpha options of logging need their gate', () => {
  const alpha = [
    '--log-json-split-stream',
    '--log-text-split-stream',
    '--log-text-info-buffer-size=1Ki',
  ]
  const told = ['text.splitStream', 'text.infoBufferSize', 'json.splitStream'].map(
    (field) => `options.${field}: Forbidden: Feature LoggingAlphaOptions is disabled`,
  )
  assert.throws(() => checkLogging(...alpha), { message: `[${told.join(', ')}]` })
  assert.doesNotThrow(() => checkLogging(...alpha, '--feature-gates=LoggingAlphaOptions=true'))
})

test('what is wrong with the flags of logs is told before and without everything else', () => {
  const given = [
    '--logging-format=xml',
    '--log-flush-frequency=0',
    '--vmodule=a=1',
    '--controllers=nope',
  ]
  const told = [
    'flushFrequency: Invalid value: "0s": Must be greater than zero',
    'format: Invalid value: "xml": Unsupported log format',
    'vmodule: Forbidden: Only supported for text log format',
  ]
  assert.throws(() => checkLogging(...given), { message: `[${told.join(', ')}]` })
})

test('of what is served with the first problem is told, and only where something is served', () => {
  const wrong = [
    '--authorization-always-allow-paths=/a*b',
    '--tls-min-version=TLS13',
    '--tls-curve-preferences=23,7',
    '--tls-cipher-suites=AES,DES',
    '--tls-cert-file=/a',
  ]
  const told = [
    'only trailing * allowed in "a*b"',
    'unknown tls version "TLS13"',
    'curve preference 7 is not supported by the current Go version',
    "Cipher suite AES not supported or doesn't exist",
    'missing filename for serving cert',
  ]
  for (const [index, message] of told.entries())
    assert.throws(() => checkServing(...wrong.slice(0, index + 1)), { exitCode: 1, message })
  assert.doesNotThrow(() => check(...wrong))
  assert.doesNotThrow(() => checkServing(...wrong, '--secure-port=0'))
})

test('a manifest of labels goes without the flag', () => {
  assert.throws(
    () => check('--allow-metric-labels=a,b=c', '--allow-metric-labels-manifest=/m.yaml'),
    {
      message:
        'metrics: Invalid value: {"allowListMapping":{"a,b":"c"},"allowListMappingManifest":"/m.yaml"}: cannot specify both allowListMapping and allowListMappingManifest',
    },
  )
})

const valid: readonly (readonly string[])[] = [
  ['--emulated-version=1.35', '--min-compatibility-version=kube=1.34'],
  ['--show-hidden-metrics-for-version=1.35'],
  ['--allow-metric-labels=a_total,code=200,404', '--allow-metric-labels=b_total,code=200'],
  ['--tls-min-version=VersionTLS13', '--tls-curve-preferences=29,0x17'],
  ['--cidr-allocator-type='],
  ['--requestheader-uid-headers=a,X-REMOTE-uid'],
  ['--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256'],
  ['--vmodule=garbage*=4,job_controller=2'],
  ['--concurrent-gc-syncs=0', '--concurrent-namespace-syncs=0', '--concurrent-deployment-syncs=0'],
  ['--terminated-pod-gc-threshold=-1'],
  ['--authorization-always-allow-paths=/healthz,/debug/*'],
  ['--attach-detach-reconcile-sync-period=1s', '--secure-port=65535'],
  ['--max-endpoints-per-slice=1000', '--mirroring-max-endpoints-per-subset=1000'],
  ['--concurrent-service-endpoint-syncs=50', '--mirroring-concurrent-service-endpoint-syncs=50'],
  ['--max-endpoints-per-slice=1', '--mirroring-max-endpoints-per-subset=1'],
  ['--concurrent-service-endpoint-syncs=1', '--mirroring-concurrent-service-endpoint-syncs=1'],
  ['--concurrent-daemonset-syncs=1', '--concurrent-statefulset-syncs=1'],
  ['--concurrent-device-taint-eviction-syncs=1', '--concurrent-resourceclaim-syncs=1'],
  ['--concurrent-ephemeralvolume-syncs=1', '--concurrent-horizontal-pod-autoscaler-syncs=1'],
  ['--concurrent-job-syncs=1', '--concurrent-cron-job-syncs=1'],
]

for (const args of valid)
  test(`valid: ${args.join(' ')}`, () => {
    for (const look of [check, checkLogging, checkServing]) assert.doesNotThrow(() => look(...args))
  })

const invalid: readonly (readonly [readonly string[], RegExp])[] = [
  [['--emulated-version=1.32'], /emulation version 1.32 is not between \[1.33, 1.36.0\]/],
  [
    ['--emulated-version=1.34', '--min-compatibility-version=1.35'],
    /minCompatibilityVersion version 1.35 is not between \[1.33, 1.34\]/,
  ],
  [
    ['--show-hidden-metrics-for-version=1.34'],
    /^metrics.showHiddenMetricsForVersion: Invalid value: "1.34": must be omitted or have the value '1.35'; only the previous minor version is allowed$/,
  ],
  [
    ['--allow-metric-labels=a_total=200'],
    /^metrics.allowListMapping: Invalid value: \{"a_total":"200"\}: must have keys with format `metricName,labelName` where /,
  ],
  [
    ['--attach-detach-reconcile-sync-period=999ms'],
    /greater than one second as set via command line option reconcile-sync-loop-period$/,
  ],
  [['--service-cluster-ip-range=10.0.0.0/8,fd00::/8,11.0.0.0/8'], /more than two entries/],
  [
    ['--secure-port=70000'],
    /--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0$/,
  ],
  [['--concurrent-service-endpoint-syncs=51'], /must not be more than 50, but got 51/],
  [['--mirroring-max-endpoints-per-subset=0'], /must not be less than 1, but got 0/],
  [['--max-endpoints-per-slice=1001'], /must not be more than 1000, but got 1001/],
  [['--mirroring-max-endpoints-per-subset=1001'], /must not be more than 1000, but got 1001/],
  [['--mirroring-concurrent-service-endpoint-syncs=51'], /must not be more than 50, but got 51/],
  [['--secure-port=-1'], /--secure-port -1 must be between 0 and 65535, inclusive/],
]

for (const [args, message] of invalid) {
  test(`invalid: ${args.join(' ')}`, () => {
    assert.throws(() => check(...args), { code: 'OPTIONS_INVALID', exitCode: 1, message })
  })
}
