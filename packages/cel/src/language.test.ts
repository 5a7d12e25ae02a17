import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { problem, result } from './fixtures.ts'
import { CostExceeded, CostMeter, POLICY_ENVIRONMENT, compile, valueOf } from './index.ts'
import type { Value } from './index.ts'
import { DYN, INT, STRING, listType, mapType, objectType } from './checking/types.ts'

/** Each row is an expression and what it gives. */
function table(title: string, rows: readonly (readonly [string, unknown])[]): void {
  describe(title, () => {
    for (const [expression, expected] of rows)
      test(expression, () => assert.deepEqual(result(expression), expected))
  })
}

table('literals', [
  ['1', 1],
  ['0x1F', 31],
  ['-9223372036854775808', -9223372036854775808n],
  ['1.5e3', 1500],
  ['.5', 0.5],
  ['5u', 5],
  [`'it\\'s'`, "it's"],
  [`"""a\nb"""`, 'a\nb'],
  [`r'\\d'`, '\\d'],
  [`r'\\'`, '\\'],
  [`br'\\' == b'\\\\'`, true],
  [`'\\u00e9\\x41\\101'`, 'éAA'],
  [`b'abc' == b'\\x61bc'`, true],
  ['[1, 2][1]', 2],
  [`{'a': 1}['a']`, 1],
  ['[1, 2,]', [1, 2]],
  ['null == null', true],
  ['1 // a remark', 1],
])

table('operators', [
  ['1 + 2 * 3 - 4 / 2', 5],
  ['7 % 4', 3],
  ['-7 / 2', -3],
  ['--1', 1],
  ['!!true', true],
  ['1 < 2 && 2u > 1u', true],
  ['1 < 1.5', true],
  ['dyn(1) == 1.0', true],
  [`dyn('1') == dyn(1)`, false],
  [`'a' + 'b' < 'ac'`, true],
  ['[1] + [2]', [1, 2]],
  [`'a' in ['a', 'b']`, true],
  [`'b' in {'a': 1}`, false],
  ['true ? 1 : 2', 1],
  ['1 / 0', 'error: division by zero'],
  ['1 % 0', 'error: modulus by zero'],
  ['1.0 / 0.0 > 1000.0', true],
  ['-7 % 4', -3],
  ['9223372036854775807 + 1', 'error: integer overflow'],
  ['-9223372036854775808 % -1', 'error: integer overflow'],
  ['-9223372036854775808 / -1', 'error: integer overflow'],
  ['0u - 1u', 'error: unsigned integer overflow'],
  ['[1][3]', 'error: index out of bounds: 3'],
  [`{'a': 1}['b']`, 'error: no such key: b'],
  [`dyn(1) + dyn('a')`, 'error: no such overload'],
])

table('an error does not matter when the other side decides', [
  ['1 / 0 == 1 || true', true],
  ['true || 1 / 0 == 1', true],
  ['1 / 0 == 1 && false', false],
  ['1 / 0 == 1 && true', 'error: division by zero'],
  ['[0, 1].exists(x, 1 / x == 1)', true],
  ['[0, 2].exists(x, 1 / x == 1)', 'error: division by zero'],
  ['[0, 2].all(x, 1 / x == 1)', false],
])

table('macros', [
  [`has({'a': 1}.a)`, true],
  [`has({'a': 1}.b)`, false],
  ['[1, 2].all(x, x > 0)', true],
  ['[1, 2].exists(x, x > 1)', true],
  ['[1, 2, 2].exists_one(x, x == 2)', false],
  ['[1, 2].existsOne(i, x, x == 2)', true],
  ['[1, 2].map(x, x * 2)', [2, 4]],
  ['[1, 2, 3].map(x, x > 1, x * 2)', [4, 6]],
  ['[1, 2, 3].filter(x, x != 2)', [1, 3]],
  [`{'a': 1}.all(k, k == 'a')`, true],
  ['[[1], [2, 3]].map(l, l.map(x, x + 1))', [[2], [3, 4]]],
  ['[5, 6].all(i, v, v == i + 5)', true],
  [`{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)`, true],
  ['[1, 2].existsOne(i, v, i == 1)', true],
  ['[1, 2, 3].transformList(i, v, i * v)', [0, 2, 6]],
  ['[1, 2, 3].transformList(i, v, v != 2, i)', [0, 2]],
  [`{'a': 1}.transformMap(k, v, v + 1)`, { a: 2 }],
  [`{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v)`, { b: 2 }],
  [`['x', 'y'].transformMapEntry(i, v, {v: i})`, { x: 0, y: 1 }],
  [`['x', 'x'].transformMapEntry(i, v, {v: i})`, 'error: insert failed: key x already exists'],
  ['[3, 1, 2].sortBy(x, -x)', [3, 2, 1]],
])

table('the list that a macro makes is not changed by what is made of it', [
  ['[[1].map(x, x)].all(v, (v + [2]).size() == 2 && v.size() == 1)', true],
  ['[[1].map(x, x)].map(v, v + v)', [[1, 1]]],
  ['[[1].filter(x, true)].map(v, [v + [2], v])', [[[1, 2], [1]]]],
  [
    '[[1].transformList(i, x, x)].map(v, [v + [2], v + [3]])',
    [
      [
        [1, 2],
        [1, 3],
      ],
    ],
  ],
])

table('optionals', [
  ['optional.of(1).value()', 1],
  ['optional.none().hasValue()', false],
  ['optional.none().value()', 'error: optional.none() dereference'],
  [`optional.ofNonZeroValue('')`, 'none'],
  [`optional.ofNonZeroValue(timestamp('0001-01-01T01:00:00+01:00'))`, 'none'],
  ['optional.ofNonZeroValue(timestamp(0)).hasValue()', true],
  ['optional.ofNonZeroValue(3).orValue(1)', 3],
  ['optional.none().or(optional.of(2)).value()', 2],
  ['optional.of(1).orValue(1 / 0)', 1],
  ['optional.of(1).optMap(x, x + 1).value()', 2],
  ['optional.of(1).optFlatMap(x, optional.none()).hasValue()', false],
  [`{'a': {'b': 1}}.?a.?b.value()`, 1],
  [`{'a': {'b': 1}}.?a.?c.orValue(7)`, 7],
  [`{'a': {'b': 1}}.?x.b.hasValue()`, false],
  [`[1][?1].hasValue()`, false],
  [`{'k': 5}[?'k'].value()`, 5],
  [`[?optional.none(), ?optional.of(1)]`, [1]],
  [`{?'a': optional.none(), 'b': 1}`, { b: 1 }],
])

table('types are values', [
  ['type(1)', 'type int'],
  ['type(1) == int', true],
  [`type('') == int`, false],
  ['type([]) == list', true],
  ['type(null) == null_type', true],
  [`type(timestamp(0)) == google.protobuf.Timestamp`, true],
])

const SELF = objectType('selfType', {
  n: INT,
  s: STRING,
  list: listType(INT),
  map: mapType(STRING, STRING),
})
const GIVEN = { types: { self: SELF }, values: { self: { n: 1, s: 'a', list: [1], map: {} } } }

describe('what the compiler refuses, and where', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['self.nope > 1', `1:5: undefined field 'nope'`],
    ['self.n.x', `1:7: type 'int' does not support field selection`],
    [`self.n > 'a'`, `1:8: found no matching overload for '_>_' applied to '(int, string)'`],
    ['nope', `1:1: undeclared reference to 'nope' (in container '')`],
    ['nope(1)', `1:5: undeclared reference to 'nope' (in container '')`],
    ['self.s.nope()', `1:12: undeclared reference to 'nope' (in container '')`],
    [
      `'a'.startsWith(1)`,
      `1:15: found no matching overload for 'startsWith' applied to 'string.(int)'`,
    ],
    [`[1, 'a']`, `1:5: expected type 'int' but found 'string'`],
    [`{'a': 1, 'b': ''}`, `1:15: expected type 'int' but found 'string'`],
    ['self.s == null', `1:8: found no matching overload for '_==_' applied to '(string, null)'`],
    [
      'self.n.all(x, true)',
      `1:5: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)`,
    ],
    ['[1].all(1, true)', '1:9: argument must be a simple name'],
    ['has(self)', '1:5: invalid argument to has() macro'],
    ['for', '1:1: reserved identifier: for'],
    [`duration('x')`, '1:10: invalid duration argument'],
    [`timestamp('x')`, '1:11: invalid timestamp argument'],
    [`self.s.matches('[')`, '1:16: invalid matches argument'],
    ['9223372036854775808', '1:1: invalid int literal'],
    ['self.n self.s', `1:8: Syntax error: mismatched input 'self' expecting <EOF>`],
    ['self.n 1', `1:8: Syntax error: extraneous input '1' expecting <EOF>`],
    [`'abc`, `1:1: Syntax error: token recognition error at: ''abc'`],
  ]
  for (const [expression, expected] of rows)
    test(expression, () => assert.equal(problem(expression, GIVEN), expected))

  test('the place is marked below the line, dots for what comes before', () => {
    assert.equal(
      result('self.nope > 1', GIVEN),
      "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^",
    )
    assert.equal(
      result('true &&\n  self.nope', GIVEN),
      "ERROR: <input>:2:7: undefined field 'nope'\n |   self.nope\n | ......^",
    )
  })

  test('all problems are told, in the order of the text', () => {
    const text = String(result('self.a == self.b', GIVEN))
    assert.deepEqual(text.match(/undefined field '\w'/g), [
      "undefined field 'a'",
      "undefined field 'b'",
    ])
  })

  test('expressions that nest without end are refused, not followed', () => {
    const tooDeep = 'ERROR: <input>:-1:0: max recursion depth exceeded'
    assert.equal(
      result('('.repeat(5000)),
      'ERROR: <input>:-1:0: expression recursion limit exceeded: 250',
    )
    for (const link of ['.b', '[0]', '.trim()', ' + 1', ' == 1'])
      assert.equal(result(`[1]${link.repeat(5000)}`), tooDeep, link)
    // Signs, parentheses, lists and functions do not count.
    const nested = (sums: number) => `-([size([1${' + 1'.repeat(sums)}])][0]) < 0`
    assert.equal(result(nested(248)), true)
    assert.equal(result(nested(249)), tooDeep)
    assert.equal(result(`${'true && '.repeat(2000)}true`), true)
  })
})

describe('variables and data', () => {
  test('untyped data is read as it is: whole numbers are int', () => {
    const given = { values: { x: { a: [1, 2.5, 'c', null], 'b-c': true } } }
    assert.equal(result('x.a[0] == 1 && x.a[1] == 2.5 && x.a[3] == null', given), true)
    assert.equal(result(`x['b-c']`, given), true)
    assert.equal(result('x.nope', given), 'error: no such key: nope')
    assert.equal(result('x.a.nope', given), "error: unsupported index type 'string' in list")
    assert.equal(result('has(x.nope) || x.nope == 1', given), 'error: no such key: nope')
  })

  test('keys that mean something to JavaScript are keys like others', () => {
    const given = { values: { x: JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown } }
    assert.equal(result(`x['__proto__'] + x.constructor`, given), 3)
    assert.equal(result('has(x.toString)', given), false)
  })

  test('what a variable holds stays as it is, whatever expressions make of it', () => {
    const environment = POLICY_ENVIRONMENT.withVariables({ v: listType(INT) })
    const evaluate = (text: string, v: Value): Value =>
      compile(text, environment).evaluate(() => v, new CostMeter(1000))
    const made = evaluate('[1, 2].map(x, x)', null)
    for (let time = 0; time < 2; time++) {
      assert.equal(evaluate('(v + [3]).size()', made), 3n)
      assert.equal(evaluate('v.size()', made), 2n)
    }
  })
})

describe('cost', () => {
  const spent = (text: string, values: Record<string, unknown> = {}): number => {
    const types = Object.fromEntries(Object.keys(values).map((name) => [name, DYN]))
    const meter = new CostMeter(1_000_000)
    const program = compile(text, POLICY_ENVIRONMENT.withVariables(types))
    program.evaluate((name) => valueOf(values[name], DYN), meter)
    return meter.spent
  }

  test('names, selections and calls cost one, texts a tenth of their length', () => {
    assert.equal(spent('1 + 2'), 1)
    assert.equal(spent('x.a.b', { x: { a: { b: 1 } } }), 3)
    assert.equal(spent(`x.contains('1234567890a')`, { x: 'a'.repeat(100) }), 1 + 10 * 2)
    assert.equal(spent(`x.matches('a+b+')`, { x: 'a'.repeat(99) }), 1 + 10)
    assert.equal(spent('[x, x]', { x: 1 }), 12)
    assert.equal(spent(`[1, 2] == [int('1')]`), 1, 'what is constant was made before')
    assert.equal(spent(`{'a': x}`, { x: 1 }), 31)
  })

  test('what is not there costs nothing, nor does asking for something else instead', () => {
    const given = { x: { a: { b: 1 } } }
    for (const [text, cost] of [
      ['x.?a.hasValue()', 3],
      ['x.?a.?b.hasValue()', 4],
      ['x.?nosuch.hasValue()', 2],
      ['x.?nosuch.?b.hasValue()', 2],
      ['x.?nosuch.b.hasValue()', 2],
      ["x[?'nosuch'].hasValue()", 2],
      ["x.a[?'nosuch'].hasValue()", 3],
      ["x.?a['b'].hasValue()", 4],
      ["optional.of('b').orValue('') != ''", 1],
      ['x.?nosuch.or(x.?a).hasValue()', 4],
      ["x.?a.?nosuch.orValue('b') == 'b'", 3],
    ] as const)
      assert.equal(spent(text, given), cost, text)
  })

  // Costs of kube-apiserver 1.36.2: how many of them an admission policy may evaluate.
  test('has() below what may not be there takes one name back when the answer is no', () => {
    const given = { x: { a: { b: 1 } } }
    for (const [text, cost] of [
      ['has(x.?nosuch.b)', 0],
      ['has(x.?nosuch.b.c)', 0],
      ['has(x.?a.nosuch)', 1],
      ['has(x.?a.b)', 2],
      ['has(x.a.?nosuch.b)', 1],
      ["has(x[?'nosuch'].b)", 0],
      ["has(x[?'a'].nosuch)", 1],
      ["has(x[?'a'].b)", 2],
      ['has(x.?a.?nosuch.c)', 1],
      ['has(x.a.nosuch)', 2],
    ] as const)
      assert.equal(spent(text, given), cost, text)
  })

  test('a chain that begins with a value has one name more', () => {
    const given = { x: { a: { b: 1 } } }
    for (const [text, cost] of [
      ['[1][0] == 1', 3],
      ['[[1]][0][0] == 1', 4],
      ["{'a': 1}.?a.hasValue()", 3],
      ["{'a': 1}.?b.hasValue()", 2],
      ['dyn(x).a.b == 1', 6],
      ['has(dyn(x).a)', 3],
      ['has(x.a.b)', 2],
    ] as const)
      assert.equal(spent(text, given), cost, text)
  })

  test('a long chain is planned once', () => {
    const nested = Array.from({ length: 60 }).reduce((inner: unknown) => [inner], 1)
    assert.equal(spent(`x${'[0]'.repeat(60)} == 1`, { x: nested }), 62)
    assert.equal(spent(`x${'[?0]'.repeat(60)}.hasValue()`, { x: nested }), 62)
  })

  test('an optional index asks lists for positions, and there is nothing in scalars and null', () => {
    const given = { values: { x: [1], t: 'text', n: null } }
    assert.equal(result(`x[?'a']`, given), "error: unsupported index type 'string' in list")
    assert.equal(result(`x[?1.5]`, given), 'error: unsupported index value 1.5 in list')
    assert.equal(result(`x.?a`, given), "error: unsupported index type 'string' in list")
    assert.equal(result(`has(x.a)`, given), "error: unsupported index type 'string' in list")
    for (const nothing of ['t[?0]', 't.?a', 'n[?0]', 'n.?a', 'n.?a.?b'])
      assert.equal(result(`${nothing}.hasValue()`, given), false, nothing)
    assert.equal(result(`has(t.a) || has(n.a)`, given), false)
  })

  test('an end of a text costs a pass over all of it', () => {
    assert.equal(spent(`x.startsWith('a')`, { x: 'a'.repeat(100) }), 1 + 10)
    assert.equal(spent(`'a'.endsWith(x)`, { x: 'a'.repeat(100) }), 1 + 1)
  })

  test('an expression ends where its limit is reached, and nothing absorbs that', () => {
    const program = compile(
      'lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0)) || true',
      POLICY_ENVIRONMENT,
    )
    const meter = new CostMeter(10_000)
    assert.throws(() => program.evaluate(() => undefined, meter), CostExceeded)
  })

  test('the estimate comes from declared sizes, and is without bound for those that have none', () => {
    const estimate = (text: string, maxElements?: number) => {
      const list = {
        ...listType({ ...STRING, maxElements: 40 }),
        ...(maxElements && { maxElements }),
      }
      return compile(text, POLICY_ENVIRONMENT.withVariables({ self: list })).estimate().max
    }
    assert.equal(estimate(`self.all(x, x == 'a')`, 100), 1 + 1 + 100 * (2 + 3))
    assert.equal(
      estimate(`self.all(x, x == 'a')`),
      2,
      'no bound given is none in a type: schemas always give one',
    )
    assert.equal(estimate(`self.map(x, x + x)[0].startsWith(string(1))`, 1), 2 ** 64 / 10)
    assert.equal(estimate('self.size() > 1'), 3)
  })
})

test('operands of && and || that are no bool are named one by one', () => {
  const values = { n: 1 }
  const types = { n: INT }
  assert.match(String(result("n && 'a'", { values, types })), /1:1: .*'int'\n[^]*1:6: .*'string'/)
  assert.equal(
    problem('(n || true) == 1', { values, types }),
    "1:2: expected type 'bool' but found 'int'",
  )
  assert.equal(problem("!(true && 'a')"), "1:11: expected type 'bool' but found 'string'")
})

test('what has an error may be anything to what is around it', () => {
  const shown = String(result("nope + 1 == 'a'"))
  assert.match(shown, /undeclared reference to 'nope'[^]*'_==_' applied to '\(int, string\)'/)
  assert.doesNotMatch(String(result('nope.size() == 1')), /overload/)
  assert.match(String(result("[nope, 1][0] == 'a'")), /'_==_' applied to '\(int, string\)'/)
})

test('types of libraries have no fields', () => {
  assert.equal(
    problem("quantity('1').x"),
    "1:14: unexpected failed resolution of 'kubernetes.Quantity'",
  )
})

test('of a mixed list the first that differs is named, of a map each', () => {
  assert.equal(String(result("[1, 'a', 2.0] == []")).match(/expected type/g)?.length, 1)
  assert.equal(
    String(result("{'a': 1, 'b': 'x', 'c': 2.0} == {}")).match(/expected type/g)?.length,
    2,
  )
})

test('a hundred problems are shown, the others are counted', () => {
  const nopes = (count: number): string => Array(count).fill('nope').join(' && ')
  assert.doesNotMatch(String(result(nopes(100))), /more errors/)
  const shown = String(result(nopes(103)))
  assert.equal(shown.match(/ERROR/g)?.length, 100)
  assert.match(shown, /\^\n3 more errors were truncated$/)
})

table('keys of maps, as kube-apiserver 1.36.2 has them', [
  [`timestamp('2024-01-01T00:00:00Z') in {timestamp('2024-01-01T00:00:00Z'): 1}`, true],
  [`{{'a': 1}: 1}.size()`, 1],
  ['{dyn([1]): 1}.size()', 1],
  [`{dyn(1.0): 'a'}[1]`, 'error: no such key: 1'],
  [
    `{timestamp('2024-01-01T00:00:00Z'): 1}[timestamp('2024-01-01T00:00:00Z')]`,
    'program instantiation failed: invalid qualifier type: types.Timestamp',
  ],
  [
    `{duration('1h'): 1}[duration('60m')]`,
    'program instantiation failed: invalid qualifier type: types.Duration',
  ],
  ['{[1]: 1}[[1]]', 'program instantiation failed: invalid qualifier type: *types.baseList'],
  ['{null: 1}[null]', 'program instantiation failed: invalid qualifier type: types.Null'],
  [
    `dyn({'a': 1})[dyn([1])]`,
    'program instantiation failed: invalid qualifier type: *types.baseList',
  ],
])
