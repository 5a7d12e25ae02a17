import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidSelectorError, type Labels, labelRequirement } from './label-query.ts'
import { parseLabelQuery } from './parse-label-query.ts'

const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

test('a selector prints in its canonical form: keys sorted, values sorted, blanks dropped', () => {
  const cases: [string, string][] = [
    ['', ''],
    ['  ', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a==b'],
    [' a != b ', 'a!=b'],
    ['a in (c,b,c)', 'a in (b,c)'],
    ['a notin(b)', 'a notin (b)'],
    ['a', 'a'],
    ['! a', '!a'],
    ['a>1', 'a>1'],
    ['a<1', 'a<1'],
    ['z=1,a,!m', 'a,!m,z=1'],
    ['a=,b', 'a=,b'],
    ['a=', 'a='],
    ['a in (,)', 'a in ()'],
    ['a in ()', 'a in ()'],
    ['a notin ( )', 'a notin ()'],
    ['a in (x,)', 'a in (,x)'],
    ['a in (,x)', 'a in (,x)'],
    ['a in (x,,y)', 'a in (,x,y)'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['notin=in', 'notin=in'],
    ['example.com/a=b', 'example.com/a=b'],
    ['a\tin\n(b)', 'a in (b)'],
  ]
  for (const [text, canonical] of cases) assert.equal(parseLabelQuery(text).toString(), canonical)
})

test('a selector that cannot be parsed is refused in the words of the API server', () => {
  const cases: [string, string][] = [
    ['a=!', "unable to parse requirement: found '!', expected: identifier"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['-a=b', `unable to parse requirement: <nil>: Invalid value: "-a": ${NAME_RULE}`],
    ['a=-b', `unable to parse requirement: values[0][a]: Invalid value: "-b": ${VALUE_RULE}`],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (b,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
    [
      'a<9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ]
  for (const [text, message] of cases) {
    assert.throws(() => parseLabelQuery(text), new InvalidSelectorError(message), text)
  }
})

test('requirements match as the page tells, absence included', () => {
  const cases: [string, Labels | undefined, boolean][] = [
    ['', undefined, true],
    ['a=b', { a: 'b' }, true],
    ['a=b', { a: 'c' }, false],
    ['a=b', {}, false],
    ['a=', {}, false],
    ['a=', { a: '' }, true],
    ['a!=b', {}, true],
    ['a!=b', undefined, true],
    ['a!=', {}, true],
    ['a!=', { a: '' }, false],
    ['a!=b', { a: 'b' }, false],
    ['a!=b', { a: 'c' }, true],
    ['a in (x,y)', { a: 'y' }, true],
    ['a in (x,y)', { a: 'z' }, false],
    ['a in ()', { a: '' }, true],
    ['a in ()', {}, false],
    ['a notin (x,y)', {}, true],
    ['a notin (x,y)', { a: 'x' }, false],
    ['a', { a: '' }, true],
    ['a', {}, false],
    ['!a', {}, true],
    ['!a', { a: '' }, false],
    ['a>1', { a: '2' }, true],
    ['a>1', { a: '1' }, false],
    ['a>1', { a: 'x' }, false],
    ['a>1', {}, false],
    ['a<1', { a: '0' }, true],
    ['a<10', { a: '9' }, true],
    ['a=b,c', { a: 'b' }, false],
    ['a=b,c', { a: 'b', c: '' }, true],
    ['constructor', {}, false],
    ['!toString', {}, true],
  ]
  for (const [text, labels, expected] of cases) {
    assert.equal(
      parseLabelQuery(text).matches(labels),
      expected,
      `${text} ${JSON.stringify(labels)}`,
    )
  }
})

test('several faults of a requirement are told together', () => {
  assert.throws(
    () => labelRequirement('-', 'exists', ['a']),
    new InvalidSelectorError(
      `[key: Invalid value: "-": ${NAME_RULE}, values: Invalid value: ["a"]: values set must be empty for exists and does not exist]`,
    ),
  )
  assert.throws(
    () => labelRequirement('a', 'like', []),
    /Unsupported value: "like": supported values: "!", "!="/,
  )
  assert.throws(
    () => labelRequirement('a', '=', []),
    /exact-match compatibility requires one single value/,
  )
  assert.throws(() => labelRequirement('a', 'gt', ['1', '2']), /exactly one value is required/)
})
