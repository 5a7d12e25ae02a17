import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanedPath, writtenPath, writtenQuery } from './written-urls.ts'

test('a path is written as it was understood: escapes are read, and what must be is escaped again', () => {
  for (const [path, written] of [
    ['/a/b/', '/a/b/'],
    ['/a//b/../c/.', '/a//b/../c/.'],
    ['/a%2Fb/x%20y/%2e%2e', '/a/b/x%20y/..'],
    ["/a!$&*,=@|^`~'()%2A%E2%82%ac/", '/a%21$&%2A,=@%7C%5E%60~%27%28%29%2A%E2%82%AC/'],
    ['/a;b/a+b/a:b/[b]/a%5Bb', '/a;b/a+b/a:b/%5Bb%5D/a%5Bb'],
    ['/a%3Fb/a%23b/a%25b/€', '/a%3Fb/a%23b/a%25b/%E2%82%AC'],
  ] as const)
    assert.equal(writtenPath(path), written)
})

test('a query is written sorted by name, without pairs that cannot be read', () => {
  for (const [query, written] of [
    ['', ''],
    ['b=b&a=c&&x=%20+%2B;d&z&y=&q=%', 'a=c&b=b&y=&z='],
    ['b=c;d&a', 'a='],
    ['b=2&a=x%20y+z%2B&b=1&a==&%2f=!', '%2F=%21&a=x+y+z%2B&a=%3D&b=2&b=1'],
    ['é=%e9', '%C3%A9=%E9'],
  ] as const)
    assert.equal(writtenQuery(query), written)
})

test('a cleaned path has no empty segments, and none that lead up', () => {
  assert.equal(cleanedPath('a//b/./%2e%2e/c d/'), '/a/c%20d')
  assert.equal(cleanedPath(''), '/')
})
