/** What kube-apiserver 1.36 shows in a column of each of these paths. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstAt } from './evaluate.ts'
import { parseJsonPath } from './parse.ts'

const OBJECT = {
  n: 5,
  f: 1.5,
  t: true,
  s: 'str',
  nul: null,
  'a.b': 'dotted',
  'a-b': 'dash',
  l: [1, 2, 3],
  el: [],
  o: { x: 1 },
  c: [
    { type: 'Ready', status: 'True', n: 5 },
    { type: 'Other', status: 'False', n: 6, f: 1.5, big: 9007199254740993n },
  ],
  mixed: [{ n: '5' }, { n: 5 }],
  nulls: [{ n: null }, { n: 5 }],
  lists: [[], [1]],
  deep: { er: { type: 'x' } },
}

function at(path: string): unknown {
  const parsed = parseJsonPath(path)
  assert.ok(parsed, path)
  return firstAt(OBJECT, parsed)
}

function checkAll(cases: readonly (readonly [string, unknown])[]): void {
  for (const [path, value] of cases) assert.deepEqual(at(path), value, path)
}

test('fields, also by their quoted names, where points have to be escaped', () => {
  checkAll([
    ['.n', 5],
    ['.n ', 5],
    ['.nul', null],
    ['.none', undefined],
    ['.', undefined],
    ['.n.x', undefined],
    ['.a-b', 'dash'],
    ['.a\\.b', 'dotted'],
    [".['a\\.b']", undefined],
    ["$['a\\.b']", 'dotted'],
    ["$['a.b']", undefined],
    ['.o.*', 1],
    ['.o.toString', undefined],
  ])
})

test('indexes and slices, of lists alone', () => {
  checkAll([
    ['.l[0]', 1],
    ['.l[-1]', 3],
    ['.l[-2]', 2],
    ['.l[5]', undefined],
    ['.l[]', 1],
    ['.l[*]', 1],
    ['.l[1:]', 2],
    ['.l[-2:]', 2],
    ['.l[0:9]', undefined],
    ['.l[2:1]', undefined],
    ['.l[::2]', 1],
    ['.l[::0]', undefined],
    ['.el[*]', undefined],
    ['.lists[*][*]', undefined],
    ['.o[*]', undefined],
    ['.s[0]', undefined],
    ['.nul[0]', undefined],
    ['.none[0]', undefined],
  ])
})

test('unions, descent, characters of texts', () => {
  checkAll([
    ["$['none','f']", 1.5],
    ['.l[1,0]', 2],
    ['.l[7,0]', undefined],
    ['.deep..type', 'x'],
    ['.s.*', 115],
  ])
})

test('filters compare what is of one type', () => {
  checkAll([
    ['.c[?(@.type=="Other")].status', 'False'],
    [".c[?(@.type == 'Other')].status", 'False'],
    ['.c[?(@.type!="Ready")].type', 'Other'],
    ['.c[?(@.n>5)].type', 'Other'],
    ['.c[?(@.n<=5)].type', 'Ready'],
    ['.c[?(@.big==9007199254740993)].type', 'Other'],
    ['.c[?(@.f)].type', 'Other'],
    ['.c[?(@.f==1.5)].type', 'Other'],
    ['.c[?(@.f>1)].type', undefined],
    ['.c[?(@.n=5)].type', undefined],
    ['.c[?(@.n==@.n)].type', 'Ready'],
    ['.c[?(@.n==Ready)].type', undefined],
    ['.mixed[?(@.n==5)].n', undefined],
    ['.nulls[?(@.n==5)].n', undefined],
    ['.l[?(@==2)]', 2],
    ['.none[?(@.a)]', undefined],
    ['.o[?(@.x)]', undefined],
  ])
})

test('what stands behind the path is not shown, and spoils it where it fails', () => {
  checkAll([
    ['.n}{.f', 5],
    ['.n}text', 5],
    ['.n}{.o[0]', undefined],
  ])
})

test('paths that cannot be read', () => {
  const paths = [
    '$["n"]',
    '.l[a]',
    '.l[1',
    '.l[ 0 ]',
    '.n}{.l[',
    '.c[?(@.n==5||@.n==6)].type',
    '.c[?(@.n==5 && @.t==true)]',
    '.c[?@.n==5]',
    '.c[?(@.n==5)',
    '....n',
    '.n,',
    '.n{',
    '.n "a',
    '.l[(@.length-1)]',
  ]
  for (const path of paths) assert.equal(parseJsonPath(path), undefined, path)
})
