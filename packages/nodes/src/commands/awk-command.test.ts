import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const files = { '/a': '  one two  three\nfour\n', '/b': 'x:y:z\n' }

for (const [script, expected] of [
  ["awk '{print $2}' /a", 'two\n\n'],
  ["cat /a | awk {'print $1'}", 'one\nfour\n'],
  ["awk '{ print $3, $1; }' < /a", 'three one\n four\n'],
  ["awk '{print $NF}' /a", 'three\nfour\n'],
  ["awk '{print}' /b", 'x:y:z\n'],
  ["awk '{print $0}' /b", 'x:y:z\n'],
  ["awk -F: '{print $2}' /b", 'y\n'],
  ["awk -F : '{print $3}' /b", 'z\n'],
  ["awk '{print $1}' /nosuch", 'awk: /nosuch: No such file or directory\n(1)'],
  [
    "awk '/x/ {print $1}' /b",
    'awk: simulated containers know {print $N} and -F of one character\n(1)',
  ],
  [
    "awk -F '[:;]' '{print $1}' /b",
    'awk: simulated containers know {print $N} and -F of one character\n(1)',
  ],
] as const)
  test(script, async () => assert.equal(await saidWith(files, script), expected))
