import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GyropilotError } from '@gyropilot/foundation'
import { isSameCluster, upOptions } from './up-options.ts'

test('managers elect as kube-controller-manager does, unless told otherwise', () => {
  assert.deepEqual(upOptions([]).election, {
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  })
  const args = [
    '--leader-elect-lease-duration=5s',
    '--leader-elect-renew-deadline=3s',
    '--leader-elect-retry-period=500ms',
  ]
  assert.deepEqual(upOptions(args).election, {
    leaseDurationMs: 5_000,
    renewDeadlineMs: 3_000,
    retryPeriodMs: 500,
  })
})

test('versions beyond the default are served when the flag says so', () => {
  assert.deepEqual(upOptions([]).runtimeConfig, {})
  assert.deepEqual(
    upOptions(['--runtime-config', 'coordination.k8s.io/v1beta1=true']).runtimeConfig,
    {
      'coordination.k8s.io/v1beta1': true,
    },
  )
})

test('gates of features are those that are set', () => {
  assert.deepEqual(upOptions([]).featureGates, new Map())
  const args = [
    '--feature-gates=GenericWorkload=true,WorkloadWithJob=true',
    '--runtime-config=scheduling.k8s.io/v1alpha2=true',
  ]
  assert.deepEqual(
    upOptions(args).featureGates,
    new Map([
      ['GenericWorkload', true],
      ['WorkloadWithJob', true],
    ]),
  )
})

test('a scheduler that would wait for groups of pods has them, or an API server elsewhere has', () => {
  const gate = '--feature-gates=GenericWorkload=true'
  const refusal =
    /^--feature-gates: with GenericWorkload the scheduler waits for PodGroups, which are not served: add --runtime-config scheduling\.k8s\.io\/v1alpha2=true$/
  assert.throws(() => upOptions([gate]), { message: refusal })
  assert.throws(() => upOptions([gate, '--runtime-config=resource.k8s.io/v1beta2']), {
    message: refusal,
  })
  for (const others of [
    ['--runtime-config=api/alpha=true'],
    ['--components=api-server,controller-manager'],
    ['--components=scheduler', '--kubeconfig=x'],
  ])
    assert.equal(upOptions([gate, ...others]).featureGates.get('GenericWorkload'), true)
})

test('a port that is not given may be known to the data directory', () => {
  assert.equal(upOptions([]).portIsGiven, false)
  assert.equal(upOptions(['--port=6443']).portIsGiven, true)
  assert.equal(upOptions(['--port', '0']).portIsGiven, true)
})

const REFUSED: readonly (readonly [readonly string[], RegExp])[] = [
  [['--cloud', 'in-memroy'], /--cloud=in-memroy is not known: did you mean in-memory\?$/],
  [['--cloud', 'aws'], /--cloud=aws is not known: use .*in-memory/],
  [['--cloud-config', 'x'], /--cloud-config needs --cloud/],
  [['--managers', '10'], /--managers=10 is out of range: use 1 to 9/],
  [['--nodes', '-1'], /--nodes=-1 is out of range: use 0 to 5000/],
  [['--prot', '1'], /unknown flag --prot: did you mean --port\?$/],
  [['--wholly-other'], /unknown flag --wholly-other: see gyro up --help$/],
  [['--port', 'abc'], /^--port=abc is not a whole number$/],
  [['--bind-address', ''], /^--bind-address is empty: use 0\.0\.0\.0 or ::/],
  [['--leader-elect-retry-period', 'soon'], /is not a duration such as 500ms or 1m30s$/],
  [['--components', 'schedular'], /names "schedular": did you mean scheduler\?$/],
  [['--controllers', '*,-job-controler'], /did you mean job-controller\?$/],
  [['--components', 'etcd'], /--components names "etcd": use api-server, /],
  [['--components='], /--components is empty/],
  [['--controllers', '-deploymnt'], /did you mean deployment\?$/],
  [['--controllers', '-nosuch'], /--controllers: "nosuch" is not in the list/],
  [
    ['--runtime-config', 'coordination.k8s.io/v1alpha9=true'],
    /--runtime-config: "coordination.k8s.io\/v1alpha9" is not known: use certificates.k8s.io\/v1beta1, certificates.k8s.io\/v1alpha1, networking.k8s.io\/v1beta1, storage.k8s.io\/v1beta1, admission/,
  ],
  [['--runtime-config=apps/v1=false'], /--runtime-config: apps\/v1 cannot be turned off/],
  [
    ['--components=nodes', '--runtime-config=coordination.k8s.io/v1beta1=true'],
    /--runtime-config is for the API server/,
  ],
  [
    ['--components=nodes', '--kubeconfig=x', '--data-dir=d'],
    /^--data-dir is for the API server: it is not among --components$/,
  ],
  [
    ['--components=nodes,storage'],
    /^--components without api-server joins a cluster that is there: say which with --kubeconfig$/,
  ],
  [
    ['--feature-gates=MaxUnavailableStatefullSet=true'],
    /--feature-gates: unrecognized feature gate: MaxUnavailableStatefullSet: did you mean MaxUnavailableStatefulSet\?$/,
  ],
  [
    ['--feature-gates=OrderedNamespaceDeletion=false,PodLifecycleSleepAction=false'],
    /^--feature-gates: cannot set feature gate OrderedNamespaceDeletion to false, feature is locked to true$/,
  ],
  [
    ['--feature-gates=OrderedNamespaceDeletion=false,Nope=true'],
    /^--feature-gates: unrecognized feature gate: Nope/,
  ],
  [
    ['--feature-gates=WorkloadWithJob=true'],
    /--feature-gates: WorkloadWithJob is enabled, but depends on features that are disabled: \[GenericWorkload\]$/,
  ],
  [
    ['--feature-gates=GenericWorkload'],
    /^--feature-gates: missing bool value for GenericWorkload$/,
  ],
  [['--output', 'yaml'], /--output=yaml is not known: use text or json/],
  [
    ['--leader-elect-lease-duration', '5s'],
    /--leader-elect-\*: leaseDuration must be greater than renewDeadline/,
  ],
]
for (const [args, wanted] of REFUSED) {
  test(`${args.join(' ')} is refused with exit code 2`, () => {
    assert.throws(
      () => upOptions(args),
      (error) =>
        error instanceof GyropilotError && error.exitCode === 2 && wanted.test(error.message),
    )
  })
}

test('two command lines ask for the same cluster however they are written', () => {
  const first = [
    '-d',
    '--port',
    '7000',
    '--nodes=2',
    '--feature-gates=MaxUnavailableStatefulSet=true',
  ]
  for (const [second, isSame] of [
    [first, true],
    [
      ['--nodes', '2', '--port=7000', first[4]!, '--detach=true', '--output', 'json', '--v', '0'],
      true,
    ],
    [
      [
        ...first,
        '--output=json',
        '--components=nodes,storage,scheduler,controller-manager,api-server',
      ],
      true,
    ],
    [[...first, '--nodes=3'], false],
    [['-d', '--nodes=2', first[4]!], false],
    [[...first, '--of-another-version'], false],
  ] as const)
    assert.equal(isSameCluster(second, first), isSame, second.join(' '))
})
