import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Input } from './input.ts'

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

const line = async (input: Input, mostBytes = 100): Promise<readonly [string, boolean]> => {
  const { text, isWhole } = await input.line(mostBytes, () => new Error('too long'))
  return [text, isWhole]
}

test('lines may come in pieces, and several in one; the last one may have no break', async () => {
  const input = new Input(chunks('a', 'b\nc\n\nd', 'e'))
  const seen = []
  for (let n = 0; n < 5; n++) seen.push(await line(input))
  assert.deepEqual(seen, [
    ['ab', true],
    ['c', true],
    ['', true],
    ['de', false],
    ['', false],
  ])
})

test('what one reader leaves is there for the next', async () => {
  const input = new Input(chunks('a\nb\nc', 'd', 'e'))
  assert.deepEqual(await line(input), ['a', true])
  for await (const chunk of input) {
    assert.equal(Buffer.from(chunk).toString(), 'b\nc')
    break
  }
  assert.deepEqual(await line(input), ['de', false])
})

test('a line that is too long is refused', async () => {
  await assert.rejects(line(new Input(chunks('abc', 'def\n')), 5), /too long/)
})
