import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { packEntry, unpackTar } from './tar.ts'

/** Of d/a (executable), d/e/l -> ../a, d/h (a hard link of d/a), d/long -> n..., d/n... (110 letters), packed by GNU tar as 1000:1000. */
const ARCHIVES = {
  gnu: 'H4sIAAAAAAACA+2YQW7CMBBFve4pfILYY2zPtvvmEgijUhHFEgT1+jULECVqoQsPoflvM1Hs3ff8+ZpkVHVsgUM4VuJgL+uJ799E3nulgxLgsB+WO63VqsuHtE/bn+7dOn9SkllOQH9/rX8sv7SF/tXJ/fpFgdmSzNo8vv9H/h/Zwv+l9O8k9Gf+g/7OO1LaNU396TR7/TcTzH+OuMx/kggnM9e/MY15bXP/3n7024r6R3/OeNfVUuBx/gtKv0n6/y7n4bd7t86flF4U5K3p+X9Xmn9i83/BTKX/ncSThP8/3v8jjf2/5L8W/i/Q/5gA8/b/+ppf9P99+79F9Iz9nwjDZ8b+DwAAAAAAAAAA+Od8ASJfVBAAKAAA',
  pax: 'H4sIAAAAAAACA+2aS27CMBRFPWYVXkHi509MBsw77BYsEhXUNKkgqCy/JqpEGlRR2to1cM/ECCNZirnn+ZMsf3T7h9pV9WabVywIwlNoPbSeaSuE1cfPh+9JaGEY37MI7La92/jh2X2iBHf9+qVekC0L8o9dzLNyrvRcl2Rmvnd50lvYj14Grp4qDz/GEHFjDi1ZI8atOHHBkH9pvS64iZn/ZdPtqm31/NXvzvVP5XY18z/yv0vH/1bA/4n63xD8f0P+d8HHOO//af6VNwDjImb+79T/XVsjx3ed/1H9rxOq/xr1P9H6rxXq/w3lvw6+A7x8/6fosP7H/i/O/I8qQJOI/6208D/8D2Lkvwk8xhBxay/xv5XEuMyy8LtTnP8d7b9KaP0P/6fqf5z/3ZT/V8HH+MH6f9j/U4zDSfh/tPrv2qd/8L+00/knifv/OJDUvFm3z6+uXy3aqMzw7kEK+Q8U+t+s/zVJ8vmXMf6F8P/R/4Ee8Vn/F8Xn+VdK4Pw/lv8lH9xf5enb35Sw/5/nP/xUj/L/vft/5asF7v+j0L91SBMAAAAAAAAAAAAAAAAAAAAAAAAAAABXyjtsgTtOAFAAAA==',
}
const LONG = 'n'.repeat(110)

for (const [format, packed] of Object.entries(ARCHIVES))
  test(`an archive of GNU tar in format ${format}`, async () => {
    const bytes = async function* () {
      yield gunzipSync(Buffer.from(packed, 'base64'))
    }
    const found: unknown[] = []
    for await (const member of unpackTar(bytes(), () => true)) {
      const { name, kind, target, mode, uid, gid } = member
      assert.deepEqual([uid, gid], [1000, 1000])
      found.push([name, kind, target, mode.toString(8), Buffer.from(member.bytes).toString()])
    }
    assert.deepEqual(found, [
      ['d/', 'folder', '', '755', ''],
      ['d/a', 'file', '', '755', 'one\n'],
      ['d/e/', 'folder', '', '755', ''],
      ['d/e/l', 'symlink', '../a', '777', ''],
      ['d/h', 'link', 'd/a', '755', ''],
      ['d/long', 'symlink', LONG, '777', ''],
      [`d/${LONG}`, 'file', '', '644', 'two\n'],
    ])
  })

test('numbers beyond the room of octal digits are kept', async () => {
  const [uid, gid] = [1_000_650_000, 4_294_967_295]
  const entry = { name: 'f', kind: 'file', target: '', mode: 0o4711, uid, gid, timeMs: 0 } as const
  const archive = (async function* () {
    yield packEntry(entry, Buffer.from('x'))
  })()
  for await (const member of unpackTar(archive, () => true))
    assert.deepEqual({ ...member }, { ...entry, size: 1, bytes: Buffer.from('x') })
})
