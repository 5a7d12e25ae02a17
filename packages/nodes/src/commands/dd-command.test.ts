import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const FILES = { '/a': 'one\n' }
const said = (script: string): Promise<string> => saidWith(FILES, script)

for (const [script, expected] of [
  [
    'dd if=/dev/zero of=/e/f bs=1 count=1 conv=fsync; wc -c /e/f',
    '1+0 records in\n1+0 records out\n1 /e/f\n',
  ],
  ['echo hello | dd of=/e/f status=none; cat /e/f', 'hello\n'],
  ['dd if=a status=none', 'one\n'],
  ['dd if=a', 'one\n0+1 records in\n0+1 records out\n'],
  ['dd if=a bs=1 skip=1 count=2 status=none', 'ne'],
  ['echo XY | dd of=a bs=1 seek=2 conv=notrunc,fsync status=none; cat a', 'onXY\n'],
  ['printf X | dd of=a bs=1 seek=1 status=none; cat a', 'oX'],
  ['printf X | dd of=a bs=1 conv=notrunc status=none; cat a', 'Xne\n'],
  ['dd if=/dev/zero of=/e/f bs=1K count=3 status=none; wc -c /e/f', '3072 /e/f\n'],
  [
    'dd if=/dev/urandom of=f count=1 status=none; dd if=/dev/urandom count=1 status=none | wc -c',
    '512\n',
  ],
  ['dd if=/dev/zero bs=1M', 'dd: No space left on device\n(1)'],
  ['dd if=nosuch', 'dd: No such file or directory\n(1)'],
  ['dd if=/dev/zero of=/ro/f count=1 status=none', 'dd: Read-only file system\n(1)'],
  ['dd bs=much', 'dd: invalid number\n(1)'],
  ['dd conv=ebcdic', "dd: invalid conversion 'ebcdic'\n(1)"],
  ['dd -v', "dd: unrecognized operand '-v'\n(1)"],
] as const)
  test(script, async () => assert.equal(await said(script), expected))
