import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const files = { '/a': 'b=2\na=1\nab\na/b\na=1\n', '/n': '10 x\n9 y\n-1\n' }
const refused = (pattern: string): string =>
  `grep: simulated containers do not know the pattern ${pattern}\n(2)`

for (const [script, expected] of [
  ["grep -E '(a|b)=' /a", 'b=2\na=1\na=1\n'],
  ["grep -E '^a[=b]' /a", 'a=1\nab\na=1\n'],
  ["grep -E '^[^a]' /a", 'b=2\n'],
  ["grep -cE 'a.?b$' /a", '2\n'],
  ["grep -iE '^A=1+$' /a", 'a=1\na=1\n'],
  ["grep -E 'a\\/b' /a", 'a/b\n'],
  ["grep -E '(a|b)+' /a", refused('(a|b)+')],
  ["grep -E '^[[:alpha:]]+$' /a", 'ab\n'],
  ["grep '^[^[:alpha:]]' /n", '10 x\n9 y\n-1\n'],
  ["grep '[]x-]' /n", '10 x\n-1\n'],
  ["grep -v '^\\s*$' /a", 'b=2\na=1\nab\na/b\na=1\n'],
  ["grep '^\\s*$' /a", '(1)'],
  ["grep -E '\\<y|\\w0\\b' /n", '10 x\n9 y\n'],
  ["grep -E '^[0-9]{2}' /n", '10 x\n'],
  ["grep '^[0-9]\\{1,1\\} ' /n", '9 y\n'],
  ["grep 'a\\=1' /a", 'a=1\na=1\n'],
  ["grep -E 'a{2}' /a", '(1)'],
  ["grep -E '\\d' /a", refused('\\d')],
  ["grep -E 'a{256}' /a", refused('a{256}')],
  ["grep -E '[[:nothing:]]' /a", refused('[[:nothing:]]')],
  ["grep -E '[a' /a", refused('[a')],
  ["grep -E '(a' /a", refused('(a')],
  ["grep -E 'a*b*c*d*e*' /a", refused('a*b*c*d*e*')],
  ['grep a=1 /a', 'a=1\na=1\n'],
  ['sort /a', 'a/b\na=1\na=1\nab\nb=2\n'],
  ['cat /a | sort -ru', 'b=2\nab\na=1\na/b\n'],
  ['sort -n /n', '-1\n9 y\n10 x\n'],
  ['sort -k2 /n', 'sort: simulated containers know -r, -n and -u\n(2)'],
  ['sort /nosuch', 'sort: /nosuch: No such file or directory\n(2)'],
] as const)
  test(script, async () => assert.equal(await saidWith(files, script), expected))
