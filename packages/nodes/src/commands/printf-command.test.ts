import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printf } from './printf-command.ts'
import type { Process } from '../shell/process.ts'

async function printed(args: readonly string[]): Promise<{ said: string; exitCode: number }> {
  let said = ''
  const say = async (text: string | Uint8Array): Promise<void> => void (said += text)
  const exitCode = await printf({ args, out: say, err: say } as unknown as Process)
  return { said, exitCode }
}

const cases: readonly (readonly [...string[], string])[] = [
  ['plain\\n', 'plain\n'],
  ['%s\\n', 'one', 'two', 'one\ntwo\n'],
  ['%s=%d;', 'a', '1', 'b', 'a=1;b=0;'],
  ['no argument is taken\\n', 'x', 'no argument is taken\n'],
  ['[%5s|%-5s|%.2s]', 'ab', 'cd', 'efg', '[   ab|cd   |ef]'],
  ['[%05d|%+d|% d|%-4d|%.3d]', '-42', '7', '7', '7', '7', '[-0042|+7| 7|7   |007]'],
  ['%x %X %o %#x %#o', '255', '255', '8', '255', '8', 'ff FF 10 0xff 010'],
  ['%d %d %d', '0x10', '010', "'A", '16 8 65'],
  ['%c%c', 'yes', 'no', 'yn'],
  ['100%%\\t\\\\\\101\\x41', '100%\t\\AA'],
  ['%b|', 'a\\tb\\0101', 'a\tbA|'],
  ['%b never', 'end\\c here', 'end'],
  ['end\\cnever', 'end'],
  ['%*d|%-*d|', '4', '7', '4', '7', '   7|7   |'],
  ['%.2f %f %e', '3.14159', '2', '12345', '3.14 2.000000 1.234500e+04'],
  ['%08.3f', '-3.14159', '-003.142'],
  ['%s', ''],
  ['%d', '0'],
]
for (const [index, line] of cases.entries()) {
  const args = line.slice(0, -1)
  test(`printf ${JSON.stringify(args)}, ${index}`, async () => {
    assert.deepEqual(await printed(args), { said: line.at(-1), exitCode: 0 })
  })
}

test('what is no number is said and counts as none', async () => {
  assert.deepEqual(await printed(['%d,', 'x', '2']), {
    said: "0,2,printf: invalid number 'x'\n",
    exitCode: 1,
  })
  assert.equal((await printed([])).exitCode, 2)
})

test('a width takes no more than a screen or two', async () => {
  assert.equal((await printed(['%999999999s', 'x'])).said.length, 65_536)
})
