import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from '../commands/fixtures.ts'
import { readsCommands } from './options.ts'

for (const [args, expected] of [
  ['', true],
  ['-l', true],
  ['-i -l', true],
  ['-eo pipefail', true],
  ['--login', true],
  ['--norc --noprofile', true],
  ['-s a b', true],
  ['-c ls', false],
  ['-lc ls', false],
  ['script.sh', false],
  ['-l script.sh', false],
  ['--nosuch', false],
] as const)
  test(`sh ${args}`, () =>
    assert.equal(readsCommands(args.split(' ').filter((arg) => arg !== '')), expected))

test('words of bash that change nothing here are known, and others are said', async () => {
  assert.equal(await saidWith({}, 'bash --login --norc -c "echo a"'), 'a\n')
  assert.equal(
    await saidWith({}, 'bash --nosuch -c "echo a"'),
    'sh: option --nosuch is not known to simulated containers\n(2)',
  )
})
