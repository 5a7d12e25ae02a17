import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const files = {
  '/a': 'foo.bar\nfooXbar\nfo*bar\n(a|b)+{2}\n',
  '/n': 'one\ntwo\nthree\nfour\nfive\nsix\n',
  '/d/x': 'hi\n',
  '/d/below/y': 'hi there\nno\n',
}
const refused = (pattern: string): string =>
  `grep: simulated containers do not know the pattern ${pattern}\n(2)`

for (const [script, expected] of [
  ["grep 'foo.bar' /a", 'foo.bar\nfooXbar\n'],
  ["grep 'foo\\.bar' /a", 'foo.bar\n'],
  ["grep 'f.*r' /a", 'foo.bar\nfooXbar\nfo*bar\n'],
  ["grep 'fo\\*bar' /a", 'fo*bar\n'],
  ["grep '*b' /a; grep '^*' /a", 'fo*bar\n(1)'],
  // Signs of -E are themselves here, and mean something behind a backslash.
  ["grep '(a|b)+{2}' /a", '(a|b)+{2}\n'],
  ["grep 'X\\|\\.' /a", 'foo.bar\nfooXbar\n'],
  ["grep 'fo\\+X' /a", 'fooXbar\n'],
  ["grep '\\(foo\\)X' /a", 'fooXbar\n'],
  ["grep 'fo[oX.]*b' /a", 'foo.bar\nfooXbar\n'],
  ["echo 'a^b$c]' | grep 'a^b$c]'", 'a^b$c]\n'],
  ["grep 'o\\{2\\}' /a", 'foo.bar\nfooXbar\n'],
  ["grep '\\bfoo' /a", 'foo.bar\nfooXbar\n'],
  ["grep -F '.' /a; grep -F 'o*' /a", 'foo.bar\nfo*bar\n'],
  ['grep -e one -e six /n', 'one\nsix\n'],
  ['grep -ce one /n', '1\n'],
  ["grep -o 'o[a-z]' /n", 'on\nou\n'],
  ["echo aXbX | grep -on '[a-z]X'", '1:aX\n1:bX\n'],
  ['echo abcab | grep -oe b -e bca', 'bca\nb\n'],
  ["echo ab | grep -oE 'a|ab'", refused('a|ab')],
  ['echo "abc ab" | grep -ow ab; echo abc | grep -w ab', 'ab\n(1)'],
  ['grep -x on /n; grep -x one /n', 'one\n'],
  ['grep -l hi /d/x /a; grep -L hi /d/x /a', '/d/x\n/a\n'],
  ['grep -r hi /d', '/d/below/y:hi there\n/d/x:hi\n'],
  ['cd /d; grep -rn hi; grep -r the .', 'below/y:1:hi there\nx:1:hi\n./below/y:hi there\n'],
  ['grep -m 1 o /n; grep -c -m2 o /n', 'one\n2\n'],
  ['grep -A1 two /n', 'two\nthree\n'],
  ['grep -nC 1 two /n', '1-one\n2:two\n3-three\n'],
  ['grep -B1 -e two -e six /n', 'one\ntwo\n--\nfive\nsix\n'],
  ['grep -A1 -e two -e three /n', 'two\nthree\nfour\n'],
  ['grep -H one /n; grep -h one /n /n', '/n:one\none\none\n'],
  ['cat /n | grep -H one', '(standard input):one\n'],
  ['grep -s x /nosuch', '(2)'],
  ['grep -q one /nosuch /n', 'grep: /nosuch: No such file or directory\n'],
  ['grep --color=never --count one /n', '1\n'],
  ['grep -- -x /n', '(1)'],
  ['grep', 'usage: grep [OPTION]... PATTERNS [FILE]...\n(2)'],
  ['grep -P one /n', 'grep: -P is not known to simulated containers\n(2)'],
  ['grep -A x one /n', 'grep: -A x is not known to simulated containers\n(2)'],
] as const)
  test(script, async () => assert.equal(await saidWith(files, script), expected))
