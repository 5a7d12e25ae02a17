import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from './file-store.ts'
import { FileTree } from './file-tree.ts'
import { isGlob, literally, matchesGlob, pathsOf } from './glob.ts'

for (const [glob, yes, no] of [
  ['abc', ['abc'], ['ab', 'abcd', 'xabc']],
  ['*', ['', 'a', 'a/b'], []],
  ['a*c', ['ac', 'abc', 'abcbc'], ['ab', 'cba']],
  ['*a*b*', ['ab', 'xaxbx', 'aab'], ['ba', '']],
  ['?', ['a', 'ä', '😀'], ['', 'ab']],
  ['[ab]x', ['ax', 'bx'], ['cx', 'x']],
  ['[a-c]', ['b'], ['d', '-']],
  ['[!a-c]', ['d'], ['b']],
  ['[]]', [']'], ['[']],
  ['[a', ['[a'], ['a']],
  ['\\*', ['*'], ['a', '\\']],
  ['a.b', ['a.b'], ['axb']],
] as const)
  test(`the pattern ${glob}`, () => {
    for (const text of yes) assert.ok(matchesGlob(glob, text), text)
    for (const text of no) assert.ok(!matchesGlob(glob, text), text)
  })

test('text as a pattern is that text only', () => {
  for (const text of ['*', '[a]', 'a?b', '\\']) {
    assert.ok(matchesGlob(literally(text), text))
    assert.equal(isGlob(literally(text)), false)
  }
  assert.ok(isGlob('a*'))
})

test('a pattern with many stars takes no time', () => {
  assert.equal(matchesGlob('*a'.repeat(200) + 'b', 'a'.repeat(20_000)), false)
})

test('paths: of folders on the way, relative or not, hidden ones by their dot', () => {
  const store = new FileStore()
  for (const path of ['/a/x.txt', '/a/y.txt', '/a/.z.txt', '/b/x.txt', '/c.txt'])
    store.set(path, Buffer.from(''))
  const files = new FileTree(store, [])
  for (const [pattern, folder, expected] of [
    ['*.txt', '/a', ['x.txt', 'y.txt']],
    ['.*.txt', '/a', ['.z.txt']],
    ['/*/x*', '', ['/a/x.txt', '/b/x.txt']],
    ['../*/y*', '/a', []],
    ['a/*', '', ['a/x.txt', 'a/y.txt']],
    ['nosuch*', '', []],
  ] as const)
    assert.deepEqual(pathsOf(pattern, files, folder), expected, pattern)
})
