import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problem, result } from './fixtures.ts'
import { AuthorizerValue, CostMeter, POLICY_ENVIRONMENT, compile } from './index.ts'
import type { Question } from './index.ts'
import { CostExceeded } from './values/values.ts'
import { AUTHORIZER_TYPE } from './libraries/authorizer.ts'

/** Each row is an expression and what it gives. */
function table(title: string, rows: readonly (readonly [string, unknown])[]): void {
  describe(title, () => {
    for (const [expression, expected] of rows)
      test(expression, () => assert.deepEqual(result(expression), expected))
  })
}

table('conversions', [
  [`int('12') + int(3.9) + int(4u)`, 19],
  [`int('x')`, "program instantiation failed: type conversion error from 'string' to 'int'"],
  [`int(dyn('x'))`, "program instantiation failed: type conversion error from 'string' to 'int'"],
  [
    `uint(dyn('-1'))`,
    "program instantiation failed: type conversion error from 'string' to 'uint'",
  ],
  [
    `double(dyn('1e400'))`,
    "program instantiation failed: type conversion error from 'string' to 'double'",
  ],
  [
    `double(dyn('constructor'))`,
    "program instantiation failed: type conversion error from 'string' to 'double'",
  ],
  [
    `bool(dyn('yes'))`,
    "program instantiation failed: type conversion error from 'string' to 'bool'",
  ],
  [
    `duration(dyn('x'))`,
    "program instantiation failed: type conversion error from 'string' to 'google.protobuf.Duration'",
  ],
  [
    `timestamp(dyn('x'))`,
    "program instantiation failed: type conversion error from 'string' to 'google.protobuf.Timestamp'",
  ],
  ['int(1e30)', 'program instantiation failed: integer overflow'],
  [`int(double('NaN'))`, 'program instantiation failed: integer overflow'],
  ['uint(-1)', 'program instantiation failed: unsigned integer overflow'],
  ['int(dyn(1e30))', 'program instantiation failed: integer overflow'],
  ['string(1000000.0) + string(100000.0)', '1e+06100000'],
  [`double('1.5') + double(1)`, 2.5],
  [`string(1) + string(2.5) + string(true) + string(b'z')`, '12.5truez'],
  [
    `string(b'\\xff')`,
    'program instantiation failed: invalid UTF-8 in bytes, cannot convert to string',
  ],
  [`bool('true') && !bool('0')`, true],
  [`bytes('é').size()`, 2],
  ['string(1e30)', '1e+30'],
])

table('times', [
  [`duration('1h30m').getMinutes()`, 90],
  [`duration('-1.5s').getMilliseconds()`, -1500],
  [`string(duration('90m'))`, '5400s'],
  [`timestamp('2026-11-21T10:20:30.5Z').getHours()`, 10],
  [`timestamp('2026-11-21T23:00:00Z').getDate('+02:00')`, 22],
  [`timestamp('2026-07-01T12:00:00Z').getHours('Europe/Berlin')`, 14],
  [`timestamp('2026-11-21T10:20:30Z').getDayOfWeek()`, 6],
  [`timestamp('2026-03-01T00:00:00Z').getDayOfYear()`, 59],
  [`timestamp('2026-11-21T10:20:30Z').getDayOfMonth()`, 20],
  [`timestamp('2026-11-21T10:20:30Z') + duration('1h') > timestamp('2026-11-21T11:00:00Z')`, true],
  [`string(timestamp('2026-01-01T00:00:00Z') - timestamp('2025-12-31T00:00:00Z'))`, '86400s'],
  // A time keeps the clock that it was read from, for its text alone.
  [`string(timestamp('2026-01-01T01:00:00.25+01:00'))`, '2026-01-01T01:00:00.25+01:00'],
  [`string(timestamp('2026-01-01T01:00:00-00:30') + duration('1h'))`, '2026-01-01T02:00:00-00:30'],
  [`string(timestamp('2026-01-01T01:00:00+00:00') - duration('1h'))`, '2026-01-01T00:00:00Z'],
  [`timestamp('2026-01-01T01:00:00+01:00') == timestamp('2026-01-01T00:00:00Z')`, true],
  [`timestamp('2026-01-01T01:00:00+05:30').getHours()`, 19],
  [`string(timestamp(int(timestamp('2026-01-01T01:00:00+01:00'))))`, '2026-01-01T00:00:00Z'],
  [`int(timestamp('1970-01-02T00:00:00Z'))`, 86400],
  [`timestamp('9999-12-31T23:59:59Z') + duration('2s')`, 'error: timestamp overflow'],
])

table('strings', [
  [`'héllo'.size()`, 5],
  [`'𝒳y'.size()`, 2],
  [`'héllo'.charAt(1)`, 'é'],
  [`'a'.charAt(2)`, 'error: index out of range: 2'],
  [`'hello'.indexOf('l')`, 2],
  [`'hello'.indexOf('l', 3)`, 3],
  [`'hello'.lastIndexOf('l')`, 3],
  [`'hello'.lastIndexOf('z')`, -1],
  [`''.lastIndexOf('a')`, -1],
  [`'ABcÉ'.lowerAscii()`, 'abcÉ'],
  [`'abç'.upperAscii()`, 'ABç'],
  [`'aXaXa'.replace('X', '-')`, 'a-a-a'],
  [`'aXaXa'.replace('X', '-', 1)`, 'a-aXa'],
  [`'ab'.replace('', '-')`, '-a-b-'],
  [`'a,b,c'.split(',')`, ['a', 'b', 'c']],
  [`'a,b,c'.split(',', 2)`, ['a', 'b,c']],
  [`'a,b'.split(',', 0)`, []],
  [`'ab'.split('')`, ['a', 'b']],
  [`['a', 'b'].join('-')`, 'a-b'],
  [`'tacocat'.substring(4)`, 'cat'],
  [`'tacocat'.substring(0, 4)`, 'taco'],
  [`'abc'.substring(2, 1)`, 'error: invalid substring range. start: 2, end: 1'],
  [`'  a\\u00a0'.trim()`, 'a'],
  [`'abc'.indexOf('c', 9) + 'abc'.lastIndexOf('c', 3)`, -2],
  [`'abc'.indexOf('', 9) + 'abc'.lastIndexOf('', 9)`, 18],
  [`strings.quote('a"\\n')`, '"a\\"\\n"'],
  [`strings.quote('😀x')`, '"😀x"'],
  [`'abc'.contains('b') && 'abc'.startsWith('a') && 'abc'.endsWith('c')`, true],
  [`'%s is %d, %.2f, %e'.format(['x', 2, 1.5, 1200.0])`, 'x is 2, 1.50, 1.200000×10⁰³'],
  [`'%f %.0f %.0f'.format([1234567.5, 2.5, 3.5])`, '1,234,567.500000 2 4'],
  [`'%e %f'.format([0.0012, double('-inf')])`, '1.200000×10⁻⁰³ -∞'],
  [`'%b %o %x %X %%'.format([dyn(5), 8, 255, 'az'])`, '101 10 ff 617A %'],
  [
    `'%s'.format([[1, 1.5, 'a', b'b', {'b': 2, 'a': null}, duration('90m'), timestamp(0), int]])`,
    '[1, 1.500000, "a", b"b", {"a":null, "b":2}, duration("5400s"), timestamp("1970-01-01T00:00:00Z"), int]',
  ],
  [`'%s %s'.format(dyn(['a']))`, 'error: index 1 out of range'],
  [
    `'%d'.format([dyn('a')])`,
    'error: error during formatting: decimal clause can only be used on integers, was given string',
  ],
])

table('lists', [
  ['[1, 2, 2].isSorted()', true],
  [`['b', 'a'].isSorted()`, false],
  ['[1, 2].sum()', 3],
  ['[1.5, 2.0].sum()', 3.5],
  [`string([duration('1s'), duration('2s')].sum())`, '3s'],
  ['[].sum() == 0', true],
  ['[3, 1].min()', 1],
  ['[3, 1].max()', 3],
  ['[1].filter(x, x > 1).max()', 'error: max called on empty list'],
  ['[1, 2, 1].indexOf(1)', 0],
  ['[1, 2, 1].lastIndexOf(1)', 2],
  ['[1, 2, 1].distinct()', [1, 2]],
  ['[[1], [2, 3]].flatten()', [1, 2, 3]],
  ['[dyn([[1]])].flatten(2)', [1]],
  ['lists.range(3)', [0, 1, 2]],
  ['[1, 2].reverse()', [2, 1]],
  ['[1, 2, 3].slice(1, 3)', [2, 3]],
  ['[1].slice(0, 3)', 'error: cannot slice(0, 3), list is length 1'],
  ['[3, 1, 2].sort()', [1, 2, 3]],
])

table('sets', [
  ['sets.contains([1, 2], [2])', true],
  ['sets.contains([1], [2])', false],
  ['sets.equivalent([1, 2, 2], [2, 1])', true],
  ['sets.intersects([1, 2], [3])', false],
])

table('regular expressions', [
  [`'abc123'.find('[0-9]+')`, '123'],
  [`'abc'.find('[0-9]+')`, ''],
  [`'a1b22'.findAll('[0-9]+')`, ['1', '22']],
  [`'a1b22'.findAll('[0-9]+', 1)`, ['1']],
  [`'x'.find(dyn('['))`, 'error: Illegal regex: error parsing regexp: missing closing ]: `[`'],
  [`'x'.matches('[' + '')`, 'error: error parsing regexp: missing closing ]: `[`'],
  [`'a'.find('(?<n>x)(?<n>y)')`, ''],
  [`'abc'.matches('^a.c$')`, true],
  [`matches('abc', 'b')`, true],
])

table('versions that are none, in the words of kube-apiserver 1.36', [
  [`semver('a.2.3').major()`, 'error: Invalid character(s) found in major number "a"'],
  [`semver('1.02.3').major()`, 'error: Minor number must not contain leading zeroes "02"'],
  [`semver('1.2.3.4').major()`, 'error: Invalid character(s) found in patch number "3.4"'],
  [`semver('1..3').major()`, 'error: strconv.ParseUint: parsing "": invalid syntax'],
  [
    `semver('1.2.99999999999999999999').major()`,
    'error: strconv.ParseUint: parsing "99999999999999999999": value out of range',
  ],
  [
    `semver('1.2.3-99999999999999999999').major()`,
    'error: strconv.ParseUint: parsing "99999999999999999999": value out of range',
  ],
  [`semver('1.2.3-a..b').major()`, 'error: Prerelease is empty'],
  [
    `semver('1.2.3-01').major()`,
    'error: Numeric PreRelease version must not contain leading zeroes "01"',
  ],
  [`semver('1.2.3-a_b').major()`, 'error: Invalid character(s) found in prerelease "a_b"'],
  [`semver('1.2.3+').major()`, 'error: Build meta data is empty'],
  [`semver('1.2.3+a_b').major()`, 'error: Invalid character(s) found in build meta data "a_b"'],
  [
    `semver('v1-a', true).major()`,
    'error: short version cannot contain PreRelease/Build meta data',
  ],
  [`semver('x', true).major()`, 'error: Invalid character(s) found in major number "x"'],
])

table('formats', [
  // The precision of %e is a width, as in the version of the library that Kubernetes uses.
  [
    `'%.0e|%.1e|%.20e|'.format([5.5, 5.5, 5.5])`,
    '5.500000×10⁰⁰|5.500000×10⁰⁰|       5.500000×10⁰⁰|',
  ],
  [`'%e %f %f'.format([double('NaN'), 'NaN', '-Infinity'])`, '   NaN NaN -∞'],
  [
    `'%f'.format(dyn(['inf']))`,
    'error: error during formatting: fixed-point clause can only be used on doubles, was given string',
  ],
  [`'%f'.format([1e22])`, '10,000,000,000,000,000,000,000.000000'],
  [`'%.3f %.0f %.0f'.format([-0.0, -0.4, 999.5])`, '0.000 -0 1,000'],
  [`'%.102f'.format([0.5])`, `0.5${'0'.repeat(101)}`],
  // Digits at the end that are zeros are counted in a byte.
  [`'%.258f'.format([0.5])`, '0.50'],
  [`'%.1074f'.format([5e-324]).size()`, 1076],
  [`'%s'.format([-0.0])`, '-0'],
  [
    `'%s'.format([[double('NaN'), -0.0, 1e22, double('Infinity')]])`,
    '["NaN", -0.000000, 10000000000000000000000.000000, "+Inf"]',
  ],
  [
    `'%s'.format([['\\x00\\u00a0\\U000E0001"', b'\\x7f']])`,
    String.raw`["\x00\u00a0\U000e0001\"", b"\x7f"]`,
  ],
  [
    `'%s'.format(dyn([[optional.of(1)]]))`,
    'error: error during formatting: no formatting function for optional_type',
  ],
  [
    `'%s'.format([{null: 1}])`,
    'error: error during formatting: no formatting function for map key of type null_type',
  ],
])

test('formats that are written out are read with the expression, clause by clause', () => {
  const rows: readonly (readonly [string, string])[] = [
    [`'%é'.format([1])`, 'could not parse formatting clause: unrecognized formatting clause "Ã"'],
    [`'%.3'.format([])`, 'index 0 out of range'],
    [
      `'%.9999999999999999999f'.format([1.0])`,
      'could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "9999999999999999999": value out of range',
    ],
    [
      `'%s'.format([{?'a': optional.of(1)}])`,
      'error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type',
    ],
    [
      `'%s'.format([[{quantity('1'): 1}]])`,
      'error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given kubernetes.Quantity',
    ],
  ]
  for (const [expression, message] of rows)
    assert.equal(problem(expression).replace(/^\d+:\d+: /, ''), message, expression)
})

table('zones of time', [
  [`timestamp(0).getHours('2:30') * 100 + timestamp(0).getMinutes('2:30')`, 230],
  [`timestamp(0).getHours('-2:30') * 100 + timestamp(0).getMinutes('-2:30')`, 2130],
  [`timestamp(0).getHours('1:')`, 'error: strconv.Atoi: parsing "": invalid syntax'],
  [`timestamp(0).getHours('+ab:00')`, 'error: strconv.Atoi: parsing "+ab": invalid syntax'],
  [
    `timestamp(0).getHours('99999999999999999999:00')`,
    'error: strconv.Atoi: parsing "99999999999999999999": value out of range',
  ],
  [`timestamp(0).getHours('Local')`, 0],
  [`timestamp(0).getHours('US/Pacific')`, 16],
  [`timestamp(0).getHours('EST5EDT')`, 19],
  ...['PST', 'utc', 'europe/berlin', 'America/New_york'].map(
    (zone) => [`timestamp(0).getHours('${zone}')`, `error: unknown time zone ${zone}`] as const,
  ),
  [`timestamp(0).getHours('../etc')`, 'error: time: invalid location name'],
  [`timestamp('0001-01-01T00:00:00Z').getDayOfYear()`, 0],
  [`timestamp('0001-01-01T00:00:00Z').getDayOfYear('America/New_York')`, 365],
  [`string(timestamp('2024-02-29T3:59:59Z'))`, '2024-02-29T03:59:59Z'],
  [
    `timestamp(dyn('2024-02-29t23:59:59z'))`,
    `program instantiation failed: type conversion error from 'string' to 'google.protobuf.Timestamp'`,
  ],
  [`timestamp(0) - duration('-2562047h47m16.854775808s')`, 'error: integer overflow'],
])

table('durations', [
  // Their text is that of a double.
  [`string(duration('1ns'))`, '0.000000001s'],
  [`string(duration('-1.5us'))`, '-0.0000015s'],
  [`string(duration('1000000h1ns'))`, '3600000000s'],
  [`string(duration('2562047h47m16.854775807s'))`, '9223372036.854776s'],
  [`duration(1 + 1)`, `error: type conversion error from 'int' to 'google.protobuf.Duration'`],
  [
    `duration(dyn(1))`,
    `program instantiation failed: type conversion error from 'int' to 'google.protobuf.Duration'`,
  ],
  [`string(dyn(null))`, 'program instantiation failed: no such overload: string(null_type)'],
])

test('a whole number that is written out is no duration', () => {
  assert.equal(problem('duration(1)'), '1:10: invalid duration argument')
})

test('lists are flattened for what the depth that is asked for costs', () => {
  assert.equal(result('[[1], [2]].flatten(400000).size()'), 2)
  assert.throws(() => result('[[1], [2]].flatten(500000).size()'), CostExceeded)
  assert.throws(() => result('lists.range(1000001)'), CostExceeded)
})

table('sums of quantities equal others, and no other equals them', [
  [`quantity('1').add(1) == quantity('2')`, true],
  [`quantity('2') == quantity('1').add(1)`, 'error: no such overload'],
  [`quantity('2') != quantity('1').sub(quantity('1'))`, 'error: no such overload'],
  [`quantity('2') in [quantity('1').add(1)]`, false],
  [`quantity('1').add(1) in [quantity('2')]`, true],
  [`[quantity('2')].indexOf(quantity('1').add(1))`, -1],
  [`quantity('2').compareTo(quantity('1').add(1))`, 0],
  // Within lists and maps an error is no difference.
  [`[quantity('3')] == [quantity('1').add(1)]`, true],
  [`{'a': quantity('3')} == {'a': quantity('1').add(1)}`, true],
  [`[quantity('2'), quantity('1').add(1)].distinct().size()`, 1],
  [`sets.contains([quantity('2')], [quantity('1').add(1)])`, true],
  [`sets.contains([quantity('1').add(1)], [quantity('2')])`, false],
])

test('what is put in as optional has to be one', () => {
  const rows = [
    [`[?1]`, "1:3: expected type 'optional_type(int)' but found 'int'"],
    [`{?'a': [1]}`, "1:8: expected type 'optional_type(list(int))' but found 'list(int)'"],
    [
      `[?{}]`,
      "1:3: expected type 'optional_type(map(_var0, _var1))' but found 'map(_var0, _var1)'",
    ],
  ] as const
  for (const [expression, message] of rows) assert.equal(problem(expression), message)
  assert.match(
    String(result(`[?'a' + 1]`)),
    /expected type 'optional_type\(!error!\)' but found '!error!'/,
  )
})

test('what stands for types in a fold is not known to programs', () => {
  assert.equal(
    result('[type(1)].map(x, x == int)'),
    'program instantiation failed: reference to undefined type: x',
  )
})

test('new lists cost as they do when they are written out, and their elements', () => {
  const costs = [
    ['[1, 2, 3].reverse().size()', 15],
    ['[1, 2, 3].slice(0, 2).size()', 14],
    ['[3, 1, 2].sort().size()', 30],
    ['[3, 1, 2].distinct().size()', 30],
    ['[[3], [1], [2]].flatten().size()', 15],
    ['lists.range(1000).size()', 1012],
  ] as const
  for (const [expression, cost] of costs) {
    const meter = new CostMeter(10_000)
    compile(expression, POLICY_ENVIRONMENT).evaluate(() => undefined, meter)
    assert.equal(meter.spent, cost, expression)
  }
})

table('which quantities count as integers depends on how they are written', [
  ...(['1Gi', '10Ti', '1e3', '9E', '999999999999999999', '12e6'].map((text) => [
    `quantity('${text}').isInteger()`,
    true,
  ]) as [string, boolean][]),
  ...(['1Pi', '1023Ti', '1.0Gi', '0.5Ki', '1.00', '0.0', '1000m', '10E', '1.5'].map((text) => [
    `quantity('${text}').isInteger()`,
    false,
  ]) as [string, boolean][]),
  [`quantity('1000000000000000000').isInteger()`, false],
  [`quantity('1Gi').add(quantity('1')).isInteger()`, true],
  [`quantity('500m').add(quantity('500m')).isInteger()`, false],
  [`quantity('1Ei').add(1).isInteger()`, false],
  [`quantity('5').sub(5).asInteger()`, 0],
  [`quantity('1.0').asInteger()`, 'error: cannot convert value to integer'],
])

table('corners that were recorded from kube-apiserver 1.36', [
  ['uint(-0.9)', 'program instantiation failed: unsigned integer overflow'],
  ['uint(0.9)', 0],
  [
    `'%s'.format([[b'\\xff']])`,
    'error: error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
  ],
  [`'%x'.format([b'\\xff'])`, 'ff'],
  [`'abc'.indexOf('', -1)`, -1],
  [`'abc'.lastIndexOf('', -1)`, -1],
  [`'abc'.indexOf('a', -1)`, 'error: index out of range: -1'],
  [`cidr('10.0.0.0/8').containsIP('1.2.3')`, 'error: no such overload'],
  [`cidr('10.0.0.0/8').containsIP('::ffff:1.2.3.4')`, 'error: no such overload'],
  [
    `'%s'.format([{1.5: 1}])`,
    'error: error during formatting: no formatting function for map key of type double',
  ],
  [
    `'%f'.format(['a'])`,
    'error: error during formatting: fixed-point clause can only be used on doubles, was given string',
  ],
])

test('what is formatted is told of by the kind of its type, also within lists', () => {
  const integers = 'error during formatting: decimal clause can only be used on integers'
  assert.match(problem(`'%d'.format([[1]])`), new RegExp(`${integers}, was given list$`, 'm'))
  assert.match(problem(`'%d'.format([{'a': 1}])`), new RegExp(`${integers}, was given map$`, 'm'))
  assert.match(problem(`'%d'.format([null])`), new RegExp(`${integers}, was given null_type$`, 'm'))
  assert.match(problem(`'%s'.format([[?optional.of(1)]])`), /, was given optional_type$/m)
})

test('what is formatted may be of mixed types, and is checked itself', () => {
  assert.equal(result(`'%s'.format([['a', 1]])`), '["a", 1]')
  assert.match(problem(`'%s'.format(['%d'.format(['a'])])`), /, was given string$/m)
  assert.deepEqual(result(`format.byte().validate('').value()`), ['invalid base64'])
})

test('seconds that no timestamp has are refused where they are written out', () => {
  assert.match(problem('timestamp(253402300800)'), /invalid timestamp argument/)
  assert.match(problem('timestamp(-62135596801)'), /invalid timestamp argument/)
  assert.equal(result('int(timestamp(253402300799))'), 253402300799)
})

test('a pattern that is written out is read before anything runs, and refused in the words of Go', () => {
  const refusals: readonly (readonly [pattern: string, problem: string])[] = [
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['[]a', 'missing closing ]: `[]a`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a{2}{3}', 'invalid nested repetition operator: `{2}{3}`'],
    ['+a', 'missing argument to repetition operator: `+`'],
    ['x{2,1}?', 'invalid repeat count: `{2,1}`'],
    ['(a{100}){100}', 'invalid repeat count: `{100}`'],
    ['\\\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
    ['\\\\', 'trailing backslash at end of expression: ``'],
    ['\\\\x{zz}', 'invalid escape sequence: `\\x{z`'],
    ['\\\\k', 'invalid escape sequence: `\\k`'],
    ['(?<=a)b', 'invalid named capture: `(?<=a)b`'],
    ['(?P<1 >a)', 'invalid named capture: `(?P<1 >`'],
    ['(?!a)b', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(?P=n)', 'invalid or unsupported Perl syntax: `(?P`'],
  ]
  for (const [pattern, refusal] of refusals)
    assert.equal(
      result(`'a'.find('${pattern}')`),
      `program instantiation failed: error parsing regexp: ${refusal}`,
    )
})

table('URLs are read as Go reads them, recorded from kube-apiserver 1.36', [
  ...(
    [
      ['', 'empty url'],
      ['rel', 'invalid URI for request'],
      [':foo', 'missing protocol scheme'],
      ['http://[::1', "missing ']' in host"],
      ['http://h:port/', 'invalid port ":port" after host'],
      ['http://a b/', 'invalid character " " in host name'],
      ['http://h%41/', 'invalid URL escape "%41"'],
      ['http://h/%zz', 'invalid URL escape "%zz"'],
      ['http://us er@h/', 'net/url: invalid userinfo'],
      ['http://h#f/', 'invalid character "#" in host name'],
    ] as const
  ).map(([text, problem]): [string, string] => [
    `url('${text}').getHost()`,
    `error: URL parse error during conversion from string: parse "${text}": ${problem}`,
  ]),
  [`url('mailto:a@b').getEscapedPath()`, ''],
  [`url('http://h/a#b?c').getEscapedPath()`, '/a'],
  [`url('http://h/p!x y%2Fz').getEscapedPath()`, '/p%21x%20y/z'],
  [`url('http://h/p%2fq').getEscapedPath()`, '/p%2fq'],
  [`url('http://[fe80::1%25en0]/').getHost()`, '[fe80::1%en0]'],
  [`url('//h/p').getHost()`, 'h'],
  [`url('///a').getHost()`, ''],
  [`url('*').getEscapedPath()`, '*'],
  [`url('/p?a=%zz&b=1').getQuery()`, { b: ['1'] }],
  [`url('http://a/b c') == url('HTTP://a/b%20c')`, true],
  [`url('/a#b') == url('/a')`, false],
  [`isURL('mailto:x') && isURL('x:') && !isURL('#f')`, true],
])

table('URLs', [
  [`url('https://user@example.com:80/a%20b?x=1&x=2&y=%26').getHost()`, 'example.com:80'],
  [`url('https://example.com:80/').getHostname()`, 'example.com'],
  [`url('https://[::1]:80/').getHostname()`, '::1'],
  [`url('https://example.com:80/').getPort()`, '80'],
  [`url('https://example.com/a b').getEscapedPath()`, '/a%20b'],
  [`url('/path?q=a&q=b&r=%26').getQuery()`, { q: ['a', 'b'], r: ['&'] }],
  [`url('HTTPS://a').getScheme()`, 'https'],
  [`isURL('https://example.com/') && isURL('/x')`, true],
  [`isURL('https://a:b:c/') || isURL('../x') || isURL('')`, false],
])

table('quantities', [
  [`quantity('1Gi').isGreaterThan(quantity('1000Mi'))`, true],
  [`quantity('500m').isLessThan(quantity('1'))`, true],
  [`quantity('1k').compareTo(quantity('1000'))`, 0],
  [`quantity('1000') == quantity('1k')`, true],
  [`quantity('50k').asInteger()`, 50000],
  [`quantity('1.5').asInteger()`, 'error: cannot convert value to integer'],
  [`quantity('1.5').isInteger()`, false],
  [`quantity('1.5').asApproximateFloat()`, 1.5],
  [`quantity('700m').asApproximateFloat()`, 0.7000000000000001],
  [`quantity('0.3').asApproximateFloat()`, 0.30000000000000004],
  [`quantity('0.30').asApproximateFloat()`, 0.3],
  [`quantity('0.3Mi').asApproximateFloat()`, 314572.80000000005],
  [`quantity('1.3Mi').asApproximateFloat()`, 1363148.8],
  [`quantity('0.1234567890123').asApproximateFloat()`, 0.12345679000000001],
  [`quantity('1234567890123456.789').asApproximateFloat()`, 1234567890123457],
  [`quantity('123456789012345678k').asApproximateFloat() == 123456789012345680000.0`, true],
  [`quantity('1e33').asApproximateFloat() == 1.0000000000000001e33`, true],
  [`quantity('1').sub(quantity('300m')).asApproximateFloat()`, 0.7000000000000001],
  [`quantity('0.3').add(quantity('0')).add(1).asApproximateFloat()`, 1.3],
  [`sign(quantity('-1'))`, -1],
  [`quantity('50k').add(20).sub(quantity('10')) == quantity('50010')`, true],
  [`isQuantity('1Gi') && !isQuantity('1GG')`, true],
  [
    `sign(quantity('x'))`,
    "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
])

table('addresses and networks', [
  [`ip('10.0.0.1').family() + ip('::1').family()`, 10],
  [`ip('127.0.0.1').isLoopback() && ip('::').isUnspecified()`, true],
  [`['ff02::1', 'ff12::1', 'fff2::1'].all(a, ip(a).isLinkLocalMulticast())`, true],
  [`['ff1f::1', 'ff11::2', 'fe02::1'].exists(a, ip(a).isLinkLocalMulticast())`, false],
  [`ip('224.0.0.1').isLinkLocalMulticast() && ip('169.254.1.1').isLinkLocalUnicast()`, true],
  [`ip('10.0.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()`, true],
  [`ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')`, true],
  [`isIP('1.2.3.4') && !isIP('1.2.3') && !isIP('01.2.3.4') && !isIP('::ffff:1.2.3.4')`, true],
  [`string(ip('2001:DB8::0:1'))`, '2001:db8::1'],
  [`ip('1::1') == ip('1:0::1')`, true],
  [
    `cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))`,
    true,
  ],
  [`cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')`, true],
  [`cidr('10.0.0.0/8').containsCIDR(cidr('0.0.0.0/0'))`, false],
  [`cidr('10.1.2.3/8').prefixLength()`, 8],
  [`string(cidr('10.1.2.3/8').masked()) + string(cidr('10.1.2.3/8').ip())`, '10.0.0.0/810.1.2.3'],
  [`isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33')`, true],
])

table('named formats', [
  [`format.dns1123Label().validate('a-b').hasValue()`, false],
  [`format.dns1123Label().validate('A').value()[0].startsWith('a lowercase RFC 1123 label')`, true],
  [`format.dns1123LabelPrefix().validate('a-').hasValue()`, false],
  [`format.dns1123Subdomain().validate('a.b').hasValue()`, false],
  [`format.dns1035Label().validate('1a').hasValue()`, true],
  [`format.qualifiedName().validate('a.b/c').hasValue()`, false],
  [`format.labelValue().validate('a b').hasValue()`, true],
  [`format.uri().validate('https://a').hasValue()`, false],
  [`format.uuid().validate('x').value()`, ['does not match the UUID format']],
  [`format.byte().validate('aGk=').hasValue()`, false],
  [`format.date().validate('2026-02-30').value()`, ['invalid date']],
  [`format.datetime().validate('2026-02-03T04:05:06Z').hasValue()`, false],
  [`format.named('nope').hasValue()`, false],
  [`format.named('uuid').value() == format.uuid()`, true],
])

table('semantic versions', [
  [`semver('1.2.3').major() + semver('1.2.3').minor() + semver('1.2.3').patch()`, 6],
  [`semver('1.0.0-alpha.1').isLessThan(semver('1.0.0-alpha.beta'))`, true],
  [`semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))`, true],
  [`semver('1.0.0-rc.2').compareTo(semver('1.0.0-rc.10'))`, -1],
  [`semver('1.0.0+a') == semver('1.0.0+b')`, true],
  [`isSemver('v1.0') || isSemver('01.0.0')`, false],
  [`semver('v01.1', true).minor()`, 1],
  [`semver('1.0')`, 'error: No Major.Minor.Patch elements found'],
])

describe('the authorizer', () => {
  test('is asked for what the chain of calls says', () => {
    const asked: Question[] = []
    const authorizer = new AuthorizerValue((question) => {
      asked.push(question)
      return { allowed: question.verb === 'get', reason: 'because' }
    })
    const ask = (text: string): unknown =>
      compile(text, POLICY_ENVIRONMENT.withVariables({ authorizer: AUTHORIZER_TYPE })).evaluate(
        () => authorizer,
        new CostMeter(1_000_000),
      )
    const chain = `authorizer.group('apps').resource('deployments').subresource('scale').namespace('a').name('x')`
    assert.equal(ask(`${chain}.check('get').allowed()`), true)
    assert.deepEqual(asked.at(-1), {
      principal: 'requester',
      verb: 'get',
      group: 'apps',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'a',
      name: 'x',
    })
    assert.equal(ask(`authorizer.path('/healthz').check('post').allowed()`), false)
    assert.equal(asked.at(-1)?.path, '/healthz')
    assert.equal(
      ask(`authorizer.serviceAccount('a', 'b').path('/x').check('get').reason()`),
      'because',
    )
    assert.deepEqual(asked.at(-1)?.principal, { namespace: 'a', name: 'b' })
    assert.throws(
      () => ask(`authorizer.path(' ').check('get').allowed()`),
      /path must not be empty/,
    )
  })
})

table('JSON patches', [[`jsonpatch.escapeKey('a/b~c')`, 'a~1b~0c']])

test('functions are only there for the types they are declared for', () => {
  assert.equal(
    problem(`quantity(1)`),
    `1:9: found no matching overload for 'quantity' applied to '(int)'`,
  )
  assert.equal(
    problem(`[[1]].sum()`),
    `1:10: found no matching overload for 'sum' applied to 'list(list(int)).()'`,
  )
  assert.equal(result(`dyn(1).startsWith('a')`), 'error: no such overload: startsWith(int, string)')
})
