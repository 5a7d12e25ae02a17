import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const FILES = { '/a': 'one\n', '/d/b': 'two\n' }
const said = (script: string): Promise<string> => saidWith(FILES, script)

for (const [script, expected] of [
  ['cp /a /e; cat /a /e/a', 'one\none\n'],
  ['cp -v a x; cat x', "'a' -> 'x'\none\n"],
  ['cp -rv d e/; cat /e/d/b /d/b', "'d' -> 'e/d'\ntwo\ntwo\n"],
  ['cp -r /d /new; cat /new/b', 'two\n'],
  ['cp d e', "cp: omitting directory 'd'\n(1)"],
  ['cp nosuch e', "cp: can't stat 'nosuch': No such file or directory\n(1)"],
  ['cp a d nosuch', `${"cp: target 'nosuch' is not a directory\n".repeat(2)}(1)`],
  ['cp a /ro/', "cp: can't create '/ro/a': Read-only file system\n(1)"],
  ['cp -r d d/inner', "cp: 'd' and the target are the same file\n(1)"],
  ['cp -Z a b', 'cp: unrecognized option: Z\n(1)'],
  ['cp a', 'cp: missing file operand\n(1)'],
  ['mv -v a /e; ls / | grep -c ^a; cat e/a', "'a' -> '/e/a'\n0\none\n"],
  ['mv d moved; ls d; cat moved/b', 'ls: d: No such file or directory\ntwo\n'],
  ['mv a d/b && cat d/b', 'one\n'],
  ['mv a d/b e; ls e', 'a\nb\n'],
  ['mv -v nosuch e || true', "mv: can't rename 'nosuch': No such file or directory\n"],
  ['mv d d/inner', "mv: can't rename 'd': Invalid argument\n(1)"],
  ['mv a /ro; cat a', "mv: can't create '/ro/a': Read-only file system\none\n"],
] as const)
  test(script, async () => assert.equal(await said(script), expected))
