import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allApiServerFlags, apiServerFlagOptions, staticTokens } from './api-server-options.ts'
import { wantedParts } from './wanted-parts.ts'

/** What controller-runtime's envtest passes. */
const HARNESS = [
  '--allow-privileged=true',
  '--authorization-mode=RBAC',
  '--bind-address=127.0.0.1',
  '--cert-dir=/tmp/k8s_test_framework_1',
  '--client-ca-file=/tmp/k8s_test_framework_1/client-cert-auth-ca.crt',
  '--disable-admission-plugins=ServiceAccount',
  '--etcd-servers=http://127.0.0.1:2379',
  '--secure-port=45678',
  '--service-account-issuer=https://127.0.0.1:45678/',
  '--service-account-key-file=/tmp/k8s_test_framework_1/sa-signer.crt',
  '--service-account-signing-key-file=/tmp/k8s_test_framework_1/sa-signer.key',
  '--service-cluster-ip-range=10.0.0.0/24',
]

test('what a harness passes is understood, and nothing of it is warned about', () => {
  const options = apiServerFlagOptions(HARNESS)
  assert.equal(options.securePort, 45_678)
  assert.equal(options.bindAddress, '127.0.0.1')
  assert.deepEqual(options.authorizationModes, ['RBAC'])
  assert.deepEqual(options.admissionSelection, { enabled: [], disabled: ['ServiceAccount'] })
  assert.deepEqual(options.serviceRanges, ['10.0.0.0/24'])
  assert.deepEqual(options.serviceAccountIssuers, ['https://127.0.0.1:45678/'])
  assert.deepEqual(options.warnings, [])
})

test('what other API servers are shown is read from files, and nothing of it is warned about', () => {
  const args = ['--proxy-client-cert-file=/p.crt', '--proxy-client-key-file=/p.key']
  const options = apiServerFlagOptions([...HARNESS, ...args])
  assert.equal(options.proxyClientCertFile, '/p.crt')
  assert.equal(options.proxyClientKeyFile, '/p.key')
  assert.deepEqual(options.warnings, [])
})

test('without a mode everybody may do everything, as upstream', () => {
  const args = HARNESS.filter((arg) => !arg.startsWith('--authorization-mode'))
  assert.deepEqual(apiServerFlagOptions(args).authorizationModes, ['AlwaysAllow'])
})

test('flags given again add to lists: issuers and key files', () => {
  const args = ['--service-account-issuer=https://old', '--service-account-key-file=/old.pub']
  const options = apiServerFlagOptions([...HARNESS, ...args])
  assert.deepEqual(options.serviceAccountIssuers, ['https://127.0.0.1:45678/', 'https://old'])
  assert.equal(options.serviceAccountKeyFiles.length, 2)
})

test('a stage stands for the versions of that stage', () => {
  for (const [item, expected] of [
    ['api/all=true', true],
    ['api/beta=true', true],
    ['api/ga=true', undefined],
    ['coordination.k8s.io/v1beta1=true', true],
  ] as const) {
    const { runtimeConfig } = apiServerFlagOptions([...HARNESS, `--runtime-config=${item}`])
    assert.equal(runtimeConfig['coordination.k8s.io/v1beta1'], expected, item)
  }
})

test('flags that would be seen and are not built are told, those without meaning are not', () => {
  const args = [
    '--oidc-issuer-url=https://a',
    '--event-ttl=1h',
    '--etcd-prefix=/x',
    '--vmodule=a=1',
  ]
  assert.deepEqual(apiServerFlagOptions([...HARNESS, ...args]).warnings, [
    '--event-ttl has no effect: it is not built in this server',
    '--oidc-issuer-url has no effect: it is not built in this server',
  ])
})

test('no flag is listed twice, and --insecure-port is gone as upstream: harnesses look for it', () => {
  const names = allApiServerFlags.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  assert.equal(names.includes('insecure-port'), false)
  assert.equal(names.length, 173)
})

test("bad flags end in one line, in kube-apiserver's words where it refuses too", () => {
  for (const [args, expected] of [
    [['--bogus'], 'unknown flag: --bogus'],
    [['stray'], '"kube-apiserver" does not take any arguments, got ["stray"]'],
    [
      ['--secure-port=abc'],
      'invalid argument "abc" for "--secure-port" flag: strconv.ParseInt: parsing "abc": invalid syntax',
    ],
    [
      ['--secure-port=70000'],
      '--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0',
    ],
    [['--authorization-mode=Foo'], 'authorization-mode "Foo" is not a valid mode'],
    [
      ['--authorization-mode=RBAC'],
      'authorization-mode ["RBAC" "RBAC"] has mode specified more than once',
    ],
    [
      ['--authorization-mode=Webhook'],
      'authorization-mode Webhook is not built in this server: use RBAC or Node',
    ],
    [['--enable-admission-plugins=Foo'], 'enable-admission-plugins plugin "Foo" is unknown'],
    [['--service-cluster-ip-range=foo'], 'service-cluster-ip-range[0] is not a valid cidr'],
    [
      ['--service-cluster-ip-range=10.0.0.0/24,fd00::/108,10.1.0.0/24'],
      '--service-cluster-ip-range must not contain more than two entries',
    ],
    [['--feature-gates=Nope=true'], 'unrecognized feature gate: Nope'],
    [['--tls-cert-file=/a'], '--tls-cert-file and --tls-private-key-file must be given together'],
    [['--runtime-config=foo/v1=true'], /^--runtime-config: "foo\/v1" is not known: use /],
  ] as const) {
    assert.throws(
      () => apiServerFlagOptions([...HARNESS, ...args]),
      (error: Error) =>
        typeof expected === 'string' ? error.message === expected : expected.test(error.message),
      args.join(' '),
    )
  }
})

test('what is required is named, all at once', () => {
  assert.throws(() => apiServerFlagOptions([]), {
    message:
      '[--etcd-servers must be specified, service-account-issuer is a required flag, --service-account-signing-key-file is a required flag, --service-account-key-file must be set]',
  })
  assert.equal(apiServerFlagOptions(['--help']).help, true)
  assert.equal(apiServerFlagOptions(['--version']).version, true)
})

test('static tokens: quoted groups, comments, too few columns', () => {
  const tokens = staticTokens('# users\nt1,admin,1,"system:masters,dev"\nt2,jane,2\n\n')
  assert.deepEqual(tokens.get('t1'), {
    name: 'admin',
    uid: '1',
    groups: ['system:masters', 'dev'],
    extra: {},
  })
  assert.deepEqual(tokens.get('t2')?.groups, [])
  assert.throws(() => staticTokens('t1,admin,1\nt2,jane\n'), {
    message:
      '--token-auth-file: line 2 must have at least 3 columns (token, user name, user uid), found 2',
  })
})

test('controllers and nodes of the environment', () => {
  for (const [environment, expected] of [
    [{}, undefined],
    [{ GYRO_CONTROLLERS: '*' }, { items: ['*'], nodes: 1 }],
    [
      { GYRO_CONTROLLERS: '*', GYRO_NODES: '3' },
      { items: ['*'], nodes: 3 },
    ],
    [
      { GYRO_CONTROLLERS: '*', GYRO_NODES: '0' },
      { items: ['*'], nodes: 0 },
    ],
    [
      { GYRO_CONTROLLERS: 'job-controller,cronjob-controller' },
      { items: ['job-controller', 'cronjob-controller'], nodes: 0 },
    ],
    [{ GYRO_NODES: '2' }, { items: [], nodes: 2 }],
  ] as const)
    assert.deepEqual(wantedParts(environment), expected)
  assert.throws(
    () => wantedParts({ GYRO_CONTROLLERS: 'jobb' }),
    /GYRO_CONTROLLERS: "jobb" is not in the list of known controllers/,
  )
  for (const nodes of ['x', '-1', '1.5', '5001']) {
    const message = `GYRO_NODES=${nodes} is not a number of nodes: use 0 to 5000`
    assert.throws(() => wantedParts({ GYRO_NODES: nodes }), { message })
  }
})
