import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flagDefinitions } from './kube-controller-manager-flags.ts'
import { flagValueText, parseFlags } from './pflag.ts'

const parse = (...args: string[]) => parseFlags(flagDefinitions, args)
const valueOf = (name: string, ...args: string[]) => parse(...args).values.get(name)

test('values are written with = or after a blank, and names with _ or -', () => {
  assert.equal(valueOf('concurrent-rc-syncs', '--concurrent-rc-syncs=7'), 7)
  assert.equal(valueOf('concurrent-rc-syncs', '--concurrent_rc_syncs', '7'), 7)
  assert.equal(valueOf('kubeconfig', '--kubeconfig=/etc/a=b'), '/etc/a=b')
  assert.equal(valueOf('v', '-v', '4'), 4)
  assert.equal(valueOf('v', '-v=4'), 4)
  assert.equal(valueOf('v', '--v=4'), 4)
})

test('a bare boolean is true and never takes the next argument', () => {
  assert.equal(valueOf('leader-elect', '--leader-elect'), true)
  assert.equal(valueOf('leader-elect', '--leader-elect=false'), false)
  assert.throws(
    () => parse('--leader-elect', 'false'),
    /does not take any arguments, got \["false"\]/,
  )
})

test('lists are split at commas and grow when repeated; the first use replaces the default', () => {
  assert.deepEqual(valueOf('controllers'), ['*'])
  assert.deepEqual(valueOf('controllers', '--controllers=*,-job', '--controllers', 'ttl'), [
    '*',
    '-job',
    'ttl',
  ])
})

test('durations are Go durations', () => {
  assert.equal(valueOf('leader-elect-lease-duration'), 15_000)
  assert.equal(valueOf('namespace-sync-period', '--namespace-sync-period=1h15m0.5s'), 4_500_500)
})

test('feature gates are pairs', () => {
  const gates = valueOf('feature-gates', '--feature-gates=A=true,B=false') as ReadonlyMap<
    string,
    boolean
  >
  assert.deepEqual(
    [...gates],
    [
      ['A', true],
      ['B', false],
    ],
  )
})

test('maps of texts: one pair in a use, or several as CSV', () => {
  const pairs = (...args: string[]) => [
    ...(valueOf('allow-metric-labels', ...args) as ReadonlyMap<string, string>),
  ]
  assert.deepEqual(pairs(), [])
  assert.deepEqual(
    pairs('--allow-metric-labels=a,code=200,404', '--allow-metric-labels', 'b,code='),
    [
      ['a,code', '200,404'],
      ['b,code', ''],
    ],
  )
  assert.deepEqual(pairs('--allow-metric-labels="a,code=200,404","b,verb=get"'), [
    ['a,code', '200,404'],
    ['b,verb', 'get'],
  ])
})

test('certificates by name: one to a use', () => {
  const uses = ['a.crt,a.key', 'b.crt,b.key:*.b,c']
  assert.deepEqual(
    valueOf('tls-sni-cert-key', ...uses.map((use) => `--tls-sni-cert-key=${use}`)),
    uses,
  )
})

const refused: readonly (readonly [readonly string[], string])[] = [
  [['--nosuch'], 'unknown flag: --nosuch'],
  [['--nosuch=1'], 'unknown flag: --nosuch'],
  [['--no_such'], 'unknown flag: --no_such'],
  [['-x'], "unknown shorthand flag: 'x' in -x"],
  [['--kubeconfig'], 'flag needs an argument: --kubeconfig'],
  [
    ['--concurrent-gc-syncs=many'],
    'invalid argument "many" for "--concurrent-gc-syncs" flag: strconv.ParseInt: parsing "many": invalid syntax',
  ],
  [
    ['--leader-elect=maybe'],
    'invalid argument "maybe" for "--leader-elect" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [
    ['--leader-elect-retry-period=2'],
    'invalid argument "2" for "--leader-elect-retry-period" flag: time: missing unit in duration "2"',
  ],
  [
    ['--leader-elect-retry-period=soon'],
    'invalid argument "soon" for "--leader-elect-retry-period" flag: time: invalid duration "soon"',
  ],
  [
    ['--allow-metric-labels=a'],
    'invalid argument "a" for "--allow-metric-labels" flag: a must be formatted as key=value',
  ],
  ...['', 'a', 'a,b,c'].map(
    (use) =>
      [
        [`--tls-sni-cert-key=${use}`],
        `invalid argument "${use}" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths`,
      ] as const,
  ),
  [
    ['--tls-sni-cert-key=a,b:'],
    'invalid argument "a,b:" for "--tls-sni-cert-key" flag: empty names list is not allowed',
  ],
  [
    ['--v=abc'],
    'invalid argument "abc" for "-v, --v" flag: strconv.ParseUint: parsing "abc": invalid syntax',
  ],
  [
    ['-v', '-1'],
    'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax',
  ],
  ...['99999999999', '2147483648', '-0x80000001'].map(
    (use) =>
      [
        [`--concurrent-gc-syncs=${use}`],
        `invalid argument "${use}" for "--concurrent-gc-syncs" flag: strconv.ParseInt: parsing "${use}": value out of range`,
      ] as const,
  ),
  ...['', '1.5', '0x', '08', '_1', '1_'].map(
    (use) =>
      [
        [`--kube-api-burst=${use}`],
        `invalid argument "${use}" for "--kube-api-burst" flag: strconv.ParseInt: parsing "${use}": invalid syntax`,
      ] as const,
  ),
  [
    ['--node-eviction-rate=1e500'],
    'invalid argument "1e500" for "--node-eviction-rate" flag: strconv.ParseFloat: parsing "1e500": value out of range',
  ],
  ...['x', '300.1.1.1'].map(
    (use) =>
      [
        [`--bind-address=${use}`],
        `invalid argument "${use}" for "--bind-address" flag: failed to parse IP: "${use}"`,
      ] as const,
  ),
  [
    ['--log-json-info-buffer-size=x'],
    `invalid argument "x" for "--log-json-info-buffer-size" flag: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
  ],
  ...['job', '=2', 'a=1=2'].map(
    (use) =>
      [
        [`--vmodule=${use}`],
        `invalid argument "${use}" for "--vmodule" flag: "${use}" does not have the pattern=N format`,
      ] as const,
  ),
  [
    ['--vmodule=a=b'],
    'invalid argument "a=b" for "--vmodule" flag: parsing verbosity in "a=b": strconv.ParseUint: parsing "b": invalid syntax',
  ],
]

for (const [args, message] of refused) {
  test(`${args.join(' ')} is refused with one line`, () => {
    assert.throws(() => parse(...args), { code: 'FLAG_INVALID', message })
  })
}

test('integers tell their base, and ports have 64 bits', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['0x10', 16],
    ['-0b11', -3],
    ['017', 15],
    ['0o17', 15],
    ['1_000', 1000],
    ['+7', 7],
    ['2147483647', 2_147_483_647],
  ]
  for (const [text, value] of cases)
    assert.equal(
      valueOf('terminated-pod-gc-threshold', `--terminated-pod-gc-threshold=${text}`),
      value,
    )
  assert.equal(valueOf('secure-port', '--secure-port=99999999999'), 99_999_999_999)
})

test('what is wrong with a gate is no mistake of the command line', () => {
  const refusedGates = {
    A: 'missing bool value for A',
    'A=maybe': 'invalid value of A=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
    'foo:A=true': 'component not registered: foo',
  }
  for (const [use, message] of Object.entries(refusedGates))
    assert.throws(() => parse(`--feature-gates=${use}`), { code: 'FEATURE_GATE_INVALID', message })
})

test('arguments that are no flags are refused together, after the flags', () => {
  const message =
    '"kube-controller-manager" does not take any arguments, got ["extra" "args" "--v"]'
  assert.throws(() => parse('extra', '--v=2', 'args', '--', '--v'), {
    code: 'ARGUMENT_UNEXPECTED',
    message,
  })
  assert.throws(() => parse('extra', '--nope'), { code: 'FLAG_INVALID' })
})

test('every flag that kubeadm passes is known', () => {
  const flags = [
    '--allocate-node-cidrs=true',
    '--authentication-kubeconfig=/a',
    '--authorization-kubeconfig=/a',
    '--bind-address=127.0.0.1',
    '--client-ca-file=/a',
    '--cluster-cidr=10.244.0.0/16',
    '--cluster-name=kubernetes',
    '--cluster-signing-cert-file=/a',
    '--cluster-signing-key-file=/a',
    '--controllers=*,bootstrapsigner,tokencleaner',
    '--kubeconfig=/a',
    '--leader-elect=true',
    '--requestheader-client-ca-file=/a',
    '--root-ca-file=/a',
    '--service-account-private-key-file=/a',
    '--service-cluster-ip-range=10.96.0.0/12',
    '--use-service-account-credentials=true',
  ]
  assert.equal(parse(...flags).given.size, flags.length)
})

test('names, shorthands and defaults of the table are sound', () => {
  const names = flagDefinitions.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const { name } of flagDefinitions) assert.match(name, /^[a-z][a-z0-9-]*$/)
  assert.doesNotThrow(() => parse())
})

test('values are shown as Go prints them', () => {
  const shown = (name: string, ...args: string[]) =>
    flagValueText(
      flagDefinitions.find((flag) => flag.name === name)!,
      valueOf(name, ...args)!,
    )
  assert.equal(shown('min-resync-period'), '12h0m0s')
  assert.equal(shown('leader-elect-retry-period', '--leader-elect-retry-period=1500ms'), '1.5s')
  assert.equal(shown('controllers'), '[*]')
  assert.equal(shown('allow-metric-labels'), '[]')
  assert.equal(
    shown('allow-metric-labels', '--allow-metric-labels=b,c=d', '--allow-metric-labels=a,c=d,e'),
    '["a,c=d,e","b,c=d"]',
  )
  assert.equal(
    shown('tls-sni-cert-key', '--tls-sni-cert-key=a,b', '--tls-sni-cert-key=c,d:e'),
    '[a,b;c,d:e]',
  )
  assert.equal(shown('kube-api-qps'), '20')
  assert.equal(shown('node-eviction-rate'), '0.1')
  assert.equal(
    shown('terminated-pod-gc-threshold', '--terminated-pod-gc-threshold=1000000'),
    '1000000',
  )
  assert.equal(shown('feature-gates', '--feature-gates=B=false,:A=true'), ':A=true,:B=false')
  assert.equal(shown('version'), 'false')
  assert.equal(shown('leader-elect'), 'true')
})

test('gates of a component that does not exist are refused', () => {
  assert.throws(() => parse('--feature-gates=other:A=true'), /component not registered: other/)
})

test('lists are records of CSV', () => {
  const lists = (text: string) => valueOf('controllers', `--controllers=${text}`)
  assert.deepEqual(lists('"a,b",c'), ['a,b', 'c'])
  assert.deepEqual(lists('"a""b",c'), ['a"b', 'c'])
  assert.deepEqual(lists('"a\nb",c'), ['a\nb', 'c'])
  assert.deepEqual(lists('\n\na\nb,c'), ['a'])
  assert.deepEqual(lists('a\r\nb'), ['a'])
  assert.deepEqual(lists('a,,b'), ['a', '', 'b'])
  assert.deepEqual(lists(','), ['', ''])
  const refused = {
    '"a': 'parse error on line 1, column 3: extraneous or missing " in quoted-field',
    '"a"b': 'parse error on line 1, column 3: extraneous or missing " in quoted-field',
    'a,"b': 'parse error on line 1, column 5: extraneous or missing " in quoted-field',
    'a,b"': 'parse error on line 1, column 4: bare " in non-quoted-field',
    'é,"é"x': 'parse error on line 1, column 7: extraneous or missing " in quoted-field',
    '"a\nb':
      'record on line 1; parse error on line 2, column 2: extraneous or missing " in quoted-field',
    '\n': 'EOF',
  }
  for (const [text, why] of Object.entries(refused))
    assert.throws(() => lists(text), {
      message: `invalid argument ${JSON.stringify(text)} for "--controllers" flag: ${why}`,
    })
})

test('lists are shown as records of CSV', () => {
  const flag = flagDefinitions.find(({ name }) => name === 'controllers')!
  const shown = flagValueText(flag, ['a,b', ' c', '\\.', 'd"e', 'f g', ''])
  assert.equal(shown, String.raw`["a,b"," c","\.","d""e",f g,]`)
})

test('numbers with a point are read as Go reads them, in 32 bits where upstream has 32', () => {
  const read = (text: string, name = 'kube-api-qps') => valueOf(name, `--${name}=${text}`)
  for (const [text, value] of [
    ['0x1p-2', 0.25],
    ['0X1.8P1', 3],
    ['0x_1p0', 1],
    ['1_0', 10],
    ['1.', 1],
    ['.5', 0.5],
    ['NaN', NaN],
    ['Inf', Infinity],
    ['-infinity', -Infinity],
    ['16777217', 16_777_216],
    ['123456789', 123_456_790],
    ['0.30000001', 0.3],
    ['1e-50', 0],
  ] as const)
    assert.deepEqual(read(text), value, text)
  assert.equal(read('16777217', 'horizontal-pod-autoscaler-tolerance'), 16_777_217)
  assert.equal(read('0x1p-1080', 'horizontal-pod-autoscaler-tolerance'), 0)
  for (const text of ['', ' 1', '0x1', '0b1', '1__0', '_1', '+nan', 'infin', '1e'])
    assert.throws(() => read(text), /strconv.ParseFloat: parsing ".*": invalid syntax$/, text)
  for (const text of ['1e39', '3.4028236e38'])
    assert.throws(() => read(text), /strconv.ParseFloat: parsing ".*": value out of range$/, text)
})

test('addresses are kept as Go writes them, and a blank one says nothing', () => {
  const read = (...texts: string[]) =>
    valueOf('bind-address', ...texts.map((text) => `--bind-address=${text}`))
  assert.equal(read('FE80::1'), 'fe80::1')
  assert.equal(read('0:0:0:0:0:0:0:1'), '::1')
  assert.equal(read('::ffff:1.2.3.4'), '1.2.3.4')
  assert.equal(read('\t1.1.1.1'), '1.1.1.1')
  assert.equal(read(''), '0.0.0.0')
  assert.equal(read('1.1.1.1', ''), '1.1.1.1')
})

test('integers between commas', () => {
  const read = (text: string) => valueOf('tls-curve-preferences', `--tls-curve-preferences=${text}`)
  assert.deepEqual(valueOf('tls-curve-preferences'), [])
  assert.deepEqual(read('29,0x17'), ['29', '23'])
  for (const text of ['', 'P256', '29, 23'])
    assert.throws(() => read(text), /strconv.ParseInt: parsing ".*": invalid syntax$/)
  assert.throws(() => read('999999999999'), /value out of range$/)
})

test('short flags without a value stand before others, and dashes begin no name', () => {
  assert.equal(valueOf('help', '-hv4'), true)
  assert.equal(valueOf('v', '-hv4'), 4)
  assert.equal(valueOf('help', '-h=false'), false)
  assert.throws(() => parse('-hx'), /unknown shorthand flag: 'x' in -x$/)
  assert.throws(() => parse('---'), /bad flag syntax: ---$/)
})

test('pairs of nothing are pairs where gates are meant, and none where texts are', () => {
  assert.deepEqual(
    [...(valueOf('feature-gates', '--feature-gates=,') as ReadonlyMap<string, boolean>)],
    [],
  )
  assert.throws(
    () => parse('--allow-metric-labels='),
    /for "--allow-metric-labels" flag: {2}must be formatted as key=value$/,
  )
})

test('gates are named with the component or without, not both', () => {
  const mixed = ['--feature-gates=kube:A=true', '--feature-gates=B=true']
  assert.throws(() => parse(...mixed), {
    message:
      'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use',
  })
  assert.doesNotThrow(() => parse('--feature-gates=kube:A=true,kube:B=true,'))
  assert.doesNotThrow(() => parse('--feature-gates=:A=true', '--feature-gates=B=true'))
})
