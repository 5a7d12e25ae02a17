import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '@gyropilot/foundation'
import { HpackDecoder } from './hpack-decoder.ts'
import { HpackEncoder } from './hpack-encoder.ts'
import { STATIC_COUNT, STATIC_NAMES, STATIC_VALUES } from './hpack-tables.ts'
import { decodeHuffman } from './huffman.ts'

type Field = readonly [string, string]

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

function decoded(decoder: HpackDecoder, block: Buffer): Field[] {
  const fields: Field[] = []
  decoder.decode(block, 0, block.length, (name, value) => fields.push([name, value]))
  return fields
}

function encoded(encoder: HpackEncoder, fields: readonly Field[]): Buffer {
  encoder.begin()
  for (const [name, value] of fields) encoder.add(name, value)
  return Buffer.from(encoder.end())
}

const head = (scheme: string, path: string): Field[] => [
  [':method', 'GET'],
  [':scheme', scheme],
  [':path', path],
  [':authority', 'www.example.com'],
]
const REQUESTS: readonly (readonly Field[])[] = [
  head('http', '/'),
  [...head('http', '/'), ['cache-control', 'no-cache']],
  [...head('https', '/index.html'), ['custom-key', 'custom-value']],
]
const date = (second: number): Field => ['date', `Mon, 21 Oct 2013 20:13:${second} GMT`]
const ANSWERS: readonly (readonly Field[])[] = [
  [
    [':status', '302'],
    ['cache-control', 'private'],
    date(21),
    ['location', 'https://www.example.com'],
  ],
  [
    [':status', '307'],
    ['cache-control', 'private'],
    date(21),
    ['location', 'https://www.example.com'],
  ],
  [
    [':status', '200'],
    ['cache-control', 'private'],
    date(22),
    ['location', 'https://www.example.com'],
    ['content-encoding', 'gzip'],
    ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
  ],
]
/** Of a table of 256 bytes, so that entries have to go. */
const SMALL_TABLE = '3fe101'

const EXAMPLES: readonly [string, readonly (readonly Field[])[], readonly string[]][] = [
  [
    'C.3, requests',
    REQUESTS,
    [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
  ],
  [
    'C.4, requests with Huffman codes',
    REQUESTS,
    [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  ],
  [
    'C.5, answers, with entries that are pushed out',
    ANSWERS,
    [
      `${SMALL_TABLE}4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
      '4803333037c1c0bf',
      '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
    ],
  ],
  [
    'C.6, answers with Huffman codes, with entries that are pushed out',
    ANSWERS,
    [
      `${SMALL_TABLE}488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3`,
      '4883640effc1c0bf',
      '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
    ],
  ],
]
for (const [name, blocks, bytes] of EXAMPLES) {
  test(`RFC 7541, ${name}: decoded`, () => {
    const decoder = new HpackDecoder(4096)
    const fields = bytes.map((block) => decoded(decoder, hex(block)))
    assert.deepEqual(fields, blocks)
  })
}

test('RFC 7541, C.2: literals without an entry, and those that must never have one', () => {
  const decoder = new HpackDecoder(4096)
  assert.deepEqual(decoded(decoder, hex('040c2f73616d706c652f70617468')), [
    [':path', '/sample/path'],
  ])
  assert.deepEqual(decoded(decoder, hex('100870617373776f726406736563726574')), [
    ['password', 'secret'],
  ])
  assert.throws(() => decoded(decoder, hex('be')), { code: 'COMPRESSION_ERROR' })
})

test('RFC 7541, C.3: the encoder writes just these bytes', () => {
  const encoder = new HpackEncoder()
  assert.deepEqual(
    REQUESTS.map((fields) => encoded(encoder, fields).toString('hex')),
    EXAMPLES[0]![2],
  )
})

test('every entry of the static table is read', () => {
  for (let number = 1; number <= STATIC_COUNT; number++) {
    const [field] = decoded(new HpackDecoder(4096), Buffer.from([0x80 | number]))
    assert.deepEqual(field, [STATIC_NAMES[number - 1], STATIC_VALUES[number - 1]])
  }
})

const BROKEN: readonly [string, string][] = [
  ['entry 0', '80'],
  ['an entry that is not there', 'ff00'],
  ['a number without end', 'ffffffffffffff'],
  ['a number that is cut off', 'ff80'],
  ['a name that is cut off', '400a6375'],
  ['no value', '410f'],
  ['nothing behind a literal', '40'],
  ['a table that is larger than was allowed', '3fe21f'],
  ['another size of the table amid the block', '8220'],
  ['Huffman padding of zeros', '048100'],
  ['Huffman padding of a byte', '0482ffff'],
  ['the end of a Huffman string inside', '0484ffffffff'],
]
for (const [what, block] of BROKEN) {
  test(`a block that is broken: ${what}`, () => {
    assert.throws(() => decoded(new HpackDecoder(4096), hex(block)), { code: 'COMPRESSION_ERROR' })
  })
}

test('a list of headers beyond its bound is refused, however short its block is', () => {
  const decoder = new HpackDecoder(300)
  const block = Buffer.concat([
    hex(`400178${'64'}`),
    Buffer.alloc(100, 0x78),
    Buffer.alloc(2, 0xbe),
  ])
  assert.throws(() => decoded(decoder, block), { code: 'ENHANCE_YOUR_CALM' })
})

test('every byte has its Huffman code, and no code is the beginning of another', () => {
  // All codes, one behind the other, padded with ones: found by asking the decoder for the shortest bits that give each byte.
  const into = Buffer.alloc(64)
  const seen = new Set<number>()
  for (let bits = 5; bits <= 13; bits++) {
    for (let code = 0; code < 1 << bits; code++) {
      const padding = (8 - (bits % 8)) % 8
      const value = code * 2 ** padding + (2 ** padding - 1)
      const bytes = Buffer.alloc(Math.ceil(bits / 8))
      bytes.writeUIntBE(value, 0, bytes.length)
      try {
        if (decodeHuffman(bytes, 0, bytes.length, into) === 1) seen.add(into[0]!)
      } catch {
        // Not a whole code.
      }
    }
  }
  for (const text of ' !"#$%&\'()*+,-./0123456789:;=>?@[]_abcxyzABCXYZ')
    assert.ok(seen.has(text.charCodeAt(0)), text)
})

for (const seed of [1, 2, 3]) {
  test(`what is encoded is what is decoded, whatever size the table is given; seed ${seed}`, () => {
    const random = new SeededRandom(seed)
    const pick = (count: number): number => Math.floor(random.next() * count)
    const encoder = new HpackEncoder()
    const decoder = new HpackDecoder(1 << 20)
    for (let i = 0; i < 400; i++) {
      if (pick(20) === 0) encoder.tableBytesMax = [0, 100, 300, 1000, 4096, 65_536][pick(6)]!
      const fields = Array.from({ length: 1 + pick(8) }, (): Field => {
        const name = pick(3) === 0 ? STATIC_NAMES[pick(STATIC_COUNT)]! : `x-${pick(12)}`
        return [name, String(pick(6)).repeat(pick(4) === 0 ? pick(5000) : pick(60))]
      })
      assert.deepEqual(decoded(decoder, encoded(encoder, fields)), fields)
    }
  })
}

test('what each request repeats takes one byte, but for tokens that are so long that they would push out the rest', () => {
  const encoder = new HpackEncoder()
  const fields = (token: string): Field[] => [
    [':method', 'PUT'],
    [':scheme', 'https'],
    [':authority', '10.0.0.1:6443'],
    [':path', '/api/v1/namespaces/n/pods/p'],
    ['authorization', token],
    ['user-agent', 'kube-controller-manager/v1.36'],
    ['content-type', 'application/json'],
    ['content-length', '1234'],
  ]
  encoded(encoder, fields('Bearer short'))
  const rest = 5 + 2 + 27 + 3 + 4
  assert.equal(encoded(encoder, fields('Bearer short')).length, rest + 1)
  for (const token of ['a', 'b', 'c', 'd', 'e'])
    assert.equal(encoded(encoder, fields(token.repeat(1200))).length, rest + 1200 + 5)
})
