/** What is told of expressions that cannot be read, as kube-apiserver 1.36 tells it: recorded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from './parser.ts'
import { CompileError } from './source.ts'

const OPERAND =
  "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** `column: message` of each problem. */
function mistakesIn(text: string): string[] {
  try {
    parse(text)
    return []
  } catch (error) {
    assert.ok(error instanceof CompileError)
    return error.problems.map(({ offset, message }) => `${offset + 1}: ${message}`)
  }
}

const MISTAKES: readonly (readonly [string, readonly string[]])[] = [
  [
    'x = 1',
    [
      "3: Syntax error: token recognition error at: '= '",
      "5: Syntax error: extraneous input '1' expecting <EOF>",
    ],
  ],
  [
    '(a b) c',
    [
      "4: Syntax error: extraneous input 'b' expecting ')'",
      "7: Syntax error: extraneous input 'c' expecting <EOF>",
    ],
  ],
  [
    String.raw`r'it\'s'`,
    [
      "7: Syntax error: extraneous input 's' expecting <EOF>",
      "8: Syntax error: token recognition error at: '''",
    ],
  ],
  [String.raw`r'''\''''.size()`, ["9: Syntax error: token recognition error at: ''.size()'"]],
  ['1 * * 2', [`5: Syntax error: extraneous input '*' expecting {'[', '{', '(', ${OPERAND}`]],
  ['f(,)', [`3: Syntax error: extraneous input ',' expecting {'[', '{', '(', ')', ${OPERAND}`]],
  ['a[1', ["4: Syntax error: missing ']' at '<EOF>'"]],
  ['[1 2]', ["4: Syntax error: extraneous input '2' expecting {']', ','}"]],
  ['{a b}', ["4: Syntax error: missing ':' at 'b'"]],
  [
    '{1,2}',
    [
      "3: Syntax error: mismatched input ',' expecting ':'",
      "4: Syntax error: extraneous input '2' expecting '}'",
    ],
  ],
  [
    'a ? : c',
    [
      `5: Syntax error: extraneous input ':' expecting {'[', '{', '(', ${OPERAND}`,
      "8: Syntax error: mismatched input '<EOF>' expecting ':'",
    ],
  ],
  [
    '-',
    [
      "2: Syntax error: no viable alternative at input '-'",
      `2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ${OPERAND}`,
    ],
  ],
  [
    'a.in',
    [
      "3: Syntax error: no viable alternative at input '.in'",
      `5: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ${OPERAND}`,
    ],
  ],
  ['Object{a:1,', ["12: Syntax error: missing '}' at '<EOF>'"]],
  ['Object{`a`:1}', ["8: unsupported syntax: '`'"]],
  [
    '"a\\q" == 1',
    [
      "1: Syntax error: token recognition error at: '\"a\\q'",
      "5: Syntax error: token recognition error at: '\" == 1'",
      `11: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ${OPERAND}`,
    ],
  ],
  ['[,]', []],
  ['!-1', []],
]

test('every mistake in an expression is told once, and the reading goes on behind it', () => {
  for (const [text, mistakes] of MISTAKES) assert.deepEqual(mistakesIn(text), mistakes, text)
})
