import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, integerBetween } from '@gyropilot/foundation'
import { decodeWatch } from './decoded-events.ts'
import { WatchDecodingError } from './watch-decoder.ts'

async function* chunks(pieces: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}

/** What is decoded before the end or the fault. */
async function decode(
  pieces: readonly (string | Uint8Array)[],
): Promise<{ events: unknown[]; fault?: unknown }> {
  const events: unknown[] = []
  try {
    for await (const event of decodeWatch(chunks(pieces))) events.push(event)
  } catch (fault) {
    return { events, fault }
  }
  return { events }
}

const event = (name: string): unknown => ({
  type: 'ADDED',
  object: { kind: 'Pod', metadata: { name } },
})
const [a, b, c] = [event('a " {'), event('b {"x\\"}]'), event('ü 日本 \u{1f600}')]
const [textA, textB, textC] = [a, b, c].map((value) => JSON.stringify(value)) as [
  string,
  string,
  string,
]

const GOOD: [string, string, unknown[]][] = [
  ['nothing', '', []],
  ['blank lines', '\n \n\r\n', []],
  ['one object per line', `${textA}\n${textB}\n${textC}\n`, [a, b, c]],
  ['no newline at the end', `${textA}\n${textB}`, [a, b]],
  ['no newlines at all', textA + textB + textC, [a, b, c]],
  ['spaces between', `${textA}  ${textB}\t\r\n${textC}`, [a, b, c]],
  [
    'objects over several lines',
    `${JSON.stringify(a, null, 2)}\n${JSON.stringify(b, null, '\t')}\n`,
    [a, b],
  ],
  [
    'two objects on a line, then one over several',
    `${textA}${textB}\n${JSON.stringify(c, null, 1)}`,
    [a, b, c],
  ],
]
for (const [title, text, expected] of GOOD) {
  test(`${title}, cut anywhere`, async () => {
    const bytes = Buffer.from(text)
    assert.deepEqual((await decode([bytes])).events, expected)
    const random = new SeededRandom(title)
    for (let round = 0; round < 60; round++) {
      const pieces: Buffer[] = []
      for (let start = 0; start < bytes.length;) {
        const end = start + (round === 0 ? 1 : integerBetween(random, 1, 40))
        pieces.push(bytes.subarray(start, end))
        start = end
      }
      assert.deepEqual(await decode(pieces), { events: expected })
    }
  })
}

test('an object without a newline is given out as soon as it is complete', async () => {
  let sentSecond = false
  async function* source(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(textA.slice(0, 20))
    yield Buffer.from(textA.slice(20))
    sentSecond = true
    yield Buffer.from(textB)
  }
  const events = decodeWatch(source())
  assert.deepEqual((await events.next()).value, a)
  assert.equal(sentSecond, false)
})

const MALFORMED: [string, string][] = [
  ['garbage', 'garbage\n'],
  ['an HTML page', '<html>{}</html>'],
  ['broken JSON with matching braces', '{"type":"ADDED","object":{,}}\n'],
  ['an unknown type', '{"type":"RENAMED","object":{}}\n'],
  ['no object', '{"type":"ADDED"}\n'],
  ['an object that is a list', '{"type":"ADDED","object":[]}\n'],
  ['a list', '[1]\n'],
  ['a number', '5\n'],
  ['a closing brace too many', '}\n'],
]
for (const [title, text] of MALFORMED) {
  test(`${title} ends the watch with a malformed fault, after the good events before it`, async () => {
    for (const pieces of [[`${textA}\n${text}${textB}\n`], [...`${textA}\n${text}${textB}\n`]]) {
      const { events, fault } = await decode(pieces)
      assert.deepEqual(events, [a])
      assert.ok(fault instanceof WatchDecodingError, String(fault))
      assert.equal(fault.fault, 'malformed')
    }
  })
}

test('an end in the middle of an event is a truncated fault, wherever it is', async () => {
  for (let cut = 1; cut < textC.length; cut++) {
    const { events, fault } = await decode([`${textA}\n`, Buffer.from(textC).subarray(0, cut)])
    assert.deepEqual(events, [a])
    assert.ok(fault instanceof WatchDecodingError)
    assert.equal(fault.fault, 'truncated')
  }
})

test('a large event in many chunks takes time in proportion to its size', async () => {
  const large = { type: 'ADDED', object: { data: '{"}'.repeat(700_000) } }
  const bytes = Buffer.from(JSON.stringify(large, null, 1))
  const pieces: Buffer[] = []
  for (let start = 0; start < bytes.length; start += 1024)
    pieces.push(bytes.subarray(start, start + 1024))
  // Quadratic work would be some 4,000 times 4 MB: the test runner's own limit would end it.
  const { events } = await decode(pieces)
  assert.deepEqual(events, [large])
})
