import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import type { Exchange, Lookup, Network, Records } from '../shell/network.ts'
import { runCommand } from '../shell/run-command.ts'
import { AGNHOST_COMMANDS } from '../commands/image-programs/agnhost-command.ts'
import { COMMANDS } from '../commands/commands.ts'
import { NETWORK_COMMANDS, connects } from './network-commands.ts'

interface Given {
  readonly lookup?: Lookup
  /** One after the other; the last stays. */
  readonly exchanges?: readonly Exchange[]
  readonly input?: string
  readonly files?: Readonly<Record<string, string>>
  /** What cannot be known ends the run, as of a container's own program. */
  readonly isProgram?: boolean
  readonly isOwn?: boolean
  readonly records?: Records
}

const FOUND: Lookup = { kind: 'found', name: 'web.shop.svc.cluster.local', addresses: ['10.0.0.7'] }

function answered(head: string, body = '', isReal = true): Exchange {
  return { kind: 'answered', bytes: Buffer.from(`${head}\r\n\r\n${body}`), isReal }
}
const PAGE = answered('HTTP/1.1 200 OK\r\nContent-Type: text/plain', 'hello\n')

async function run(words: readonly string[], given: Given = {}) {
  const { lookup = FOUND, exchanges = [PAGE], isProgram = false, isOwn = false } = given
  const { records = { kind: 'unknown', records: [] } } = given
  const left = [...exchanges]
  const asked: string[] = []
  const sent: string[] = []
  const slept: number[] = []
  let mostMs = 0
  let protocol: string | undefined
  const network: Network = {
    resolver: '10.0.0.10',
    isOwn: () => isOwn,
    async records(name, type, searches) {
      asked.push(`${name} ${type}${searches ? ' searched' : ''}`)
      return records
    },
    async lookup(name) {
      asked.push(name)
      return lookup
    },
    async exchange(address, port, wanted) {
      sent.push(`${address}:${port} ${Buffer.from(wanted.bytes).toString()}`)
      mostMs = wanted.mostMs
      if (wanted.isEncrypted === true) asked.push('within TLS')
      protocol = wanted.protocol
      return left.length > 1 ? left.shift()! : left[0]!
    },
  }
  const store = new FileStore()
  store.makeFolder('/tmp')
  for (const [path, text] of Object.entries(given.files ?? {})) store.set(path, Buffer.from(text))
  const files = new FileTree(store, [])
  let out = ''
  let err = ''
  const text = (chunk: string | Uint8Array): string => Buffer.from(chunk as string).toString()
  const unknown: string[] = []
  const exitCode = await runCommand(
    words,
    {
      stdin: inputOf(Buffer.from(given.input ?? '')),
      out: async (chunk) => void (out += text(chunk)),
      err: async (chunk) => void (err += chunk),
    },
    {
      commands: new Map([...COMMANDS, ...NETWORK_COMMANDS, ...AGNHOST_COMMANDS]),
      network,
      files,
      hostname: 'p',
      user: { uid: 0, gid: 0, groups: [0] },
      program: '',
      nowMs: () => 0,
      sleep: async (delayMs) => void slept.push(delayMs),
      yieldIfLong: () => undefined,
      ...(isProgram && {
        onUnknown(what: string) {
          unknown.push(what)
          throw new Error(`unknown: ${what}`)
        },
      }),
    },
    new Map(),
  ).catch((error: Error) => error.message)
  const read = async (path: string) => Buffer.from(await files.read(path)).toString()
  return { exitCode, out, err, asked, sent, slept, mostMs, protocol, unknown, read }
}

test('wget says whom it asks, saves under the last part of the path, and never over a file', async () => {
  const saved = await run(['wget', 'http://web:8080/a/b.txt?x=1'])
  assert.equal(saved.exitCode, 0)
  assert.equal(saved.err, "Connecting to web (10.0.0.7:8080)\nsaving to 'b.txt'\n'b.txt' saved\n")
  assert.equal(await saved.read('/b.txt'), 'hello\n')
  assert.match(
    saved.sent[0]!,
    /^10\.0\.0\.7:8080 GET \/a\/b\.txt\?x=1 HTTP\/1\.1\r\nhost: web:8080\r\n/,
  )
  assert.equal(await (await run(['wget', '-q', 'web'])).read('/index.html'), 'hello\n')
  const again = await run(['wget', 'web'], { files: { '/index.html': 'mine' } })
  assert.deepEqual([again.exitCode, await again.read('/index.html')], [1, 'mine'])
  assert.match(again.err, /wget: can't open 'index.html': File exists\n$/)
})

for (const [words, expected] of [
  [['-qO-', 'web'], { exitCode: 0, out: 'hello\n', err: '' }],
  [['-q', '-O', '-', 'web'], { exitCode: 0, out: 'hello\n', err: '' }],
  [['--spider', '-q', 'web'], { exitCode: 0, out: '', err: '' }],
  [['-q', '--output-document=/tmp/x', '--timeout=3', 'web'], { exitCode: 0, out: '', err: '' }],
  [
    ['-q', '--no-such', 'web'],
    { exitCode: 1, out: '', err: "wget: unrecognized option '--no-such'\n" },
  ],
  [['-qx', 'web'], { exitCode: 1, out: '', err: "wget: unrecognized option '-x'\n" }],
  [[], { exitCode: 1, out: '', err: 'wget: missing URL\n' }],
  [
    ['-q', 'https://web'],
    { exitCode: 1, out: '', err: 'wget: not an http or ftp url: https://web\n' },
  ],
] as const)
  test(`wget ${words.join(' ')}`, async () => {
    const { exitCode, out, err } = await run(['wget', ...words])
    assert.deepEqual({ exitCode, out, err }, expected)
  })

for (const [kind, wget, curl] of [
  [
    'refused',
    "can't connect to remote host (10.0.0.7): Connection refused",
    '(7) Failed to connect to web port 80: Could not connect to server',
  ],
  [
    'elsewhere',
    "can't connect to remote host (10.0.0.7): No route to host",
    '(7) Failed to connect to web port 80: Could not connect to server',
  ],
  ['lost', 'download timed out', '(28) Connection timed out after 5000 milliseconds'],
  [
    'late',
    'download timed out',
    '(28) Operation timed out after 5000 milliseconds with 0 bytes received',
  ],
] as const)
  test(`what wget and curl say of a connection that is ${kind}`, async () => {
    const given = { exchanges: [{ kind }] } as const
    const first = await run(['wget', '-q', '-T', '5', 'web'], given)
    assert.deepEqual([first.exitCode, first.err], [1, `wget: ${wget}\n`])
    const second = await run(['curl', '-m', '5', 'web'], given)
    assert.deepEqual(
      [second.exitCode, second.err],
      [Number(/\d+/.exec(curl)![0]), `curl: ${curl}\n`],
    )
    // Who never gets an answer waits as long as it was told to; who got a part of one has waited.
    assert.deepEqual(first.slept, kind === 'lost' ? [5_000] : [])
    assert.equal(first.mostMs, 5_000)
  })

const SEVERAL: Lookup = { ...FOUND, addresses: ['10.1.0.1', '10.1.0.2', '10.1.0.3'] }

test('curl and agnhost connect try all addresses of a name, in all as long as for one', async () => {
  const exchanges: readonly Exchange[] = [{ kind: 'refused' }, { kind: 'lost' }, PAGE]
  const given = { lookup: SEVERAL, exchanges }
  const curl = await run(['curl', '-sw', '%{remote_ip}', '--connect-timeout', '9', 'db'], given)
  assert.deepEqual([curl.exitCode, curl.out, curl.slept], [0, 'hello\n10.1.0.3', [3_000]])
  const connect = await run(['/agnhost', 'connect', '--timeout=9s', 'db:80'], given)
  assert.deepEqual([connect.exitCode, connect.slept], [0, [3_000]])
  const none = await run(['curl', 'db'], { lookup: SEVERAL, exchanges: [{ kind: 'refused' }] })
  assert.deepEqual([none.exitCode, none.sent.length], [7, 3])
  // Who has taken a connection has it, and those of elsewhere are passed by.
  const late = await run(['curl', '-m', '1', 'db'], {
    lookup: SEVERAL,
    exchanges: [{ kind: 'late' }],
  })
  assert.deepEqual([late.exitCode, late.sent.length], [28, 1])
  const own = {
    lookup: SEVERAL,
    exchanges: [{ kind: 'elsewhere' } as const, PAGE],
    isProgram: true,
  }
  assert.deepEqual((await run(['curl', '-s', 'db'], own)).unknown, [])
})

test('wget and nc of busybox ask the first address alone', async () => {
  const given = { lookup: SEVERAL, exchanges: [{ kind: 'refused' } as const, PAGE] }
  for (const words of [
    ['wget', '-qO-', 'db'],
    ['nc', '-z', 'db', '80'],
  ]) {
    const { exitCode, sent } = await run(words, given)
    assert.deepEqual([exitCode, sent.length], [1, 1])
  }
})

for (const [options, connectMs, mostMs] of [
  [['--connect-timeout', '2'], 2_000, Infinity],
  [['--connect-timeout', '2', '-m', '10'], 2_000, 10_000],
  [['--connect-timeout', '20', '-m', '10'], 10_000, 10_000],
  [['--connect-timeout', '0', '-m', '0'], 300_000, Infinity],
  [[], 300_000, Infinity],
] as const)
  test(`curl ${options.join(' ')} waits ${connectMs} ms for a connection, ${mostMs} ms for an answer`, async () => {
    const lost = await run(['curl', ...options, 'web'], { exchanges: [{ kind: 'lost' }] })
    assert.deepEqual([lost.exitCode, lost.slept, lost.mostMs], [28, [connectMs], mostMs])
    assert.equal(lost.err, `curl: (28) Connection timed out after ${connectMs} milliseconds\n`)
  })

for (const [text, why] of [
  ['text', "invalid number 'text'"],
  ['', "invalid number ''"],
  ['1.5', "invalid number '1.5'"],
  ['-1', "invalid number '-1'"],
  ['10s', "invalid number '10s'"],
  ['4294967296', "invalid number '4294967296'"],
  ['2147483648', 'number 2147483648 is not in 0..2147483647 range'],
] as const)
  test(`wget -T ${JSON.stringify(text)} is refused before anybody is asked`, async () => {
    const { exitCode, err, sent } = await run(['wget', '-T', text, 'web'])
    assert.deepEqual([exitCode, err, sent], [1, `wget: ${why}\n`, []])
  })

test('nc -w takes a number of seconds and nothing else', async () => {
  const { exitCode, err, sent } = await run(['nc', '-w', 'x', 'web', '80'])
  assert.deepEqual([exitCode, err, sent], [1, "nc: invalid number 'x'\n", []])
})

test('a name that nobody has, an error of the server, and what is no HTTP', async () => {
  const nobody = { lookup: { kind: 'unknown' } } as const
  assert.equal((await run(['wget', 'web'], nobody)).err, "wget: bad address 'web'\n")
  const unresolved = await run(['curl', 'http://web/x'], nobody)
  assert.deepEqual(
    [unresolved.exitCode, unresolved.err],
    [6, 'curl: (6) Could not resolve host: web\n'],
  )
  const missing = { exchanges: [answered('HTTP/1.1 404 Not Found', 'none')] }
  assert.equal(
    (await run(['wget', '-q', 'web'], missing)).err,
    'wget: server returned error: HTTP/1.1 404 Not Found\n',
  )
  const shown = await run(['curl', 'web'], missing)
  assert.deepEqual([shown.exitCode, shown.out], [0, 'none'])
  const failing = await run(['curl', '-fsS', 'web'], missing)
  assert.deepEqual(
    [failing.exitCode, failing.out, failing.err],
    [22, '', 'curl: (22) The requested URL returned error: 404\n'],
  )
  assert.equal((await run(['curl', '-fs', 'web'], missing)).err, '')
  const garbled = {
    exchanges: [{ kind: 'answered', bytes: Buffer.from('+PONG\r\n'), isReal: true }],
  } as const
  assert.equal((await run(['wget', '-q', 'web'], garbled)).err, 'wget: error getting response\n')
  assert.equal((await run(['curl', 'web'], garbled)).exitCode, 52)
})

test('curl sends what it is given', async () => {
  const { sent } = await run([
    'curl',
    '-s',
    '-X',
    'PUT',
    '-H',
    'Accept: text/html',
    '-H',
    'X-One:1',
    '-d',
    'a=1',
    '-d',
    'b=2',
    '-u',
    'me:pw',
    '-A',
    'mine',
    'http://web/p',
  ])
  assert.equal(
    sent[0],
    `10.0.0.7:80 ${[
      'PUT /p HTTP/1.1',
      'host: web',
      'user-agent: mine',
      'accept: text/html',
      'content-type: application/x-www-form-urlencoded',
      `authorization: Basic ${btoa('me:pw')}`,
      'x-one: 1',
      'content-length: 7',
      'connection: close',
    ].join('\r\n')}\r\n\r\na=1&b=2`,
  )
  assert.match((await run(['curl', '-d', 'x', 'web'])).sent[0]!, / POST \/ /)
  assert.match((await run(['curl', '-I', 'web'])).sent[0]!, / HEAD \/ /)
  assert.match(
    (await run(['wget', '-q', '--post-data=x', 'web'])).sent[0]!,
    / POST \/ [^]*\r\n\r\nx$/,
  )
})

test('curl shows heads, saves, and writes out what it is asked for', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n'
  assert.equal((await run(['curl', '-si', 'web'])).out, `${head}hello\n`)
  assert.equal((await run(['curl', '-sI', 'web'])).out, head)
  const coded = await run([
    'curl',
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code} %{remote_ip} %{no}\\n',
    'web',
  ])
  assert.equal(coded.out, '200 10.0.0.7 \n')
  const none = await run(['curl', '-s', '-w', '%{http_code}', 'web'], {
    exchanges: [{ kind: 'refused' }],
  })
  assert.deepEqual([none.exitCode, none.out], [7, '000'])
  assert.equal(await (await run(['curl', '-so', '/tmp/x', 'web'])).read('/tmp/x'), 'hello\n')
  assert.equal(await (await run(['curl', '-sO', 'web/dir/y'])).read('/y'), 'hello\n')
  assert.match(
    (await run(['curl', '-sv', 'web'])).err,
    /^\* Connected to web \(10\.0\.0\.7\) port 80\n> GET \/ HTTP\/1\.1\n> Host: web\n< HTTP\/1\.1 200 OK\n/,
  )
})

test('redirections are followed by wget, and by curl when it is told to; not in circles', async () => {
  const moved = answered('HTTP/1.1 302 Found\r\nLocation: /new')
  const given = { exchanges: [moved, PAGE] }
  assert.equal((await run(['wget', '-qO-', 'web'], given)).out, 'hello\n')
  assert.equal((await run(['curl', '-s', 'web'], given)).out, '')
  const followed = await run(['curl', '-sL', '-d', 'x', 'web/old'], given)
  assert.equal(followed.out, 'hello\n')
  assert.match(followed.sent[1]!, / GET \/new HTTP[^]*\r\n\r\n$/)
  const kept = [answered('HTTP/1.1 307 Temporary Redirect\r\nLocation: /new'), PAGE]
  assert.match(
    (await run(['curl', '-sL', '-d', 'x', 'web'], { exchanges: kept })).sent[1]!,
    / POST \/new /,
  )
  assert.equal((await run(['curl', '-sL', 'web'], { exchanges: [moved] })).exitCode, 47)
  const secure = answered('HTTP/1.1 301 Moved\r\nLocation: https://web/')
  assert.equal((await run(['curl', '-sL', 'web'], { exchanges: [secure] })).exitCode, 35)
})

test('chunks are put together', async () => {
  const chunked = answered(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked',
    '3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n',
  )
  assert.equal((await run(['curl', '-s', 'web'], { exchanges: [chunked] })).out, 'abc0123456789')
})

test('nslookup tells all addresses by the whole name, or that there is none', async () => {
  const lookup: Lookup = {
    kind: 'found',
    name: 'db.shop.svc.cluster.local',
    addresses: ['10.1.0.2', '10.1.0.3'],
  }
  const { exitCode, out } = await run(['nslookup', 'db'], { lookup })
  assert.equal(exitCode, 0)
  assert.equal(
    out,
    'Server:\t\t10.0.0.10\nAddress:\t10.0.0.10:53\n\nName:\tdb.shop.svc.cluster.local\nAddress: 10.1.0.2\nName:\tdb.shop.svc.cluster.local\nAddress: 10.1.0.3\n\n',
  )
  const sixth = await run(['nslookup', 'db', 'fd00::a'], { lookup: { kind: 'unknown' } })
  assert.match(sixth.out, /^Server:\t\tfd00::a\nAddress:\t\[fd00::a\]:53\n\n/)
  const none = await run(['nslookup', 'db', '10.0.0.99'], { lookup: { kind: 'unknown' } })
  assert.deepEqual(
    [none.exitCode, none.out],
    [1, "Server:\t\t10.0.0.99\nAddress:\t10.0.0.99:53\n\n** server can't find db: NXDOMAIN\n\n"],
  )
  assert.equal((await run(['nslookup', '-type=srv', 'db'])).exitCode, 1)
})

test('curl knows options that change nothing here', async () => {
  const { exitCode, out } = await run(['curl', '-g', '-q', '-s', 'web'])
  assert.deepEqual([exitCode, out], [0, 'hello\n'])
  assert.equal((await run(['curl', '--disable', '--globoff', '-s', 'web'])).out, 'hello\n')
})

for (const [kind, said] of [
  ['refused', 'REFUSED\n'],
  ['lost', 'TIMEOUT\n'],
  ['late', 'TIMEOUT\n'],
  ['elsewhere', 'OTHER\n'],
] as const)
  test(`agnhost connect says ${said} of what is ${kind}`, async () => {
    const { exitCode, err, sent, mostMs } = await run(
      ['/agnhost', 'connect', 'web:81', '--timeout=3s', '--protocol=tcp'],
      { exchanges: [{ kind }] },
    )
    assert.deepEqual([exitCode, err, sent, mostMs], [1, said, ['10.0.0.7:81 '], 3_000])
  })

test('agnhost connect says nothing where somebody listens, DNS of a name that nobody has, and asks no other protocol', async () => {
  const well = await run(['/agnhost', 'connect', '--timeout', '3s', 'web:80'])
  assert.deepEqual([well.exitCode, well.err, well.out], [0, '', ''])
  const nameless = await run(['/agnhost', 'connect', 'x:1'], { lookup: { kind: 'unknown' } })
  assert.deepEqual([nameless.exitCode, nameless.err], [1, 'DNS: no such host x\n'])
  for (const args of [['--protocol=dccp', 'web:80'], ['web']])
    assert.equal((await run(['/agnhost', 'connect', ...args])).err, 'UNKNOWN\n')
})

test('nc by UDP waits for more as long as it may, and may say from which port it comes', async () => {
  const udp = ['nc', '-u', '-w', '5', '-p', '12345', 'web', '53']
  const { exitCode, out, slept, protocol } = await run(udp, { input: 'hostname\n' })
  assert.deepEqual([exitCode, slept, protocol], [0, [5_000], 'UDP'])
  assert.match(out, /hello\n$/)
  const forever = ['nc', '-u', 'web', '53']
  assert.deepEqual((await run(forever, { input: 'hostname\n' })).slept, [])
})

test('curl takes an interface or an address of its own to come from, and no other', async () => {
  const curl = ['curl', '-s', '-S', '--interface', '10.0.0.9', 'web']
  assert.equal((await run(curl, { isOwn: true })).exitCode, 0)
  const foreign = await run(curl)
  assert.deepEqual(
    [foreign.exitCode, foreign.err],
    [45, 'curl: (45) bind failed with errno 99: Address not available\n'],
  )
  assert.equal((await run(['curl', '--interface', 'eth0', 'web'])).exitCode, 0)
})

test('agnhost connect by UDP asks for an answer', async () => {
  const udp = ['/agnhost', 'connect', '--protocol=udp', 'web:53']
  const well = await run(udp)
  assert.deepEqual(
    [well.exitCode, well.sent, well.protocol],
    [0, ['10.0.0.7:53 hostname\n'], 'UDP'],
  )
  const sctp = await run(['/agnhost', 'connect', '--protocol=sctp', 'web:53'])
  assert.deepEqual([sctp.sent, sctp.protocol], [['10.0.0.7:53 '], 'SCTP'])
  const lost = await run(udp, { exchanges: [{ kind: 'lost' }] })
  assert.deepEqual([lost.exitCode, lost.err], [1, 'TIMEOUT\n'])
})

test('nc asks whether somebody listens, or hands over its input', async () => {
  const quiet = await run(['nc', '-z', 'web', '80'])
  assert.deepEqual([quiet.exitCode, quiet.err, quiet.sent], [0, '', ['10.0.0.7:80 ']])
  assert.equal((await run(['nc', '-zv', '-w', '2', 'web', '80'])).err, 'web (10.0.0.7:80) open\n')
  assert.equal((await run(['nc', '-v', '-t', '-w', '2', 'web', '80'])).exitCode, 0)
  const refused = await run(['nc', '-zv', 'web', '81'], { exchanges: [{ kind: 'refused' }] })
  assert.deepEqual(
    [refused.exitCode, refused.err],
    [1, 'nc: web (10.0.0.7:81): Connection refused\n'],
  )
  assert.equal((await run(['nc', '-z', 'web', '81'], { exchanges: [{ kind: 'refused' }] })).err, '')
  assert.equal((await run(['nc', '-z', 'x', '1'], { lookup: { kind: 'unknown' } })).exitCode, 1)
  const spoken = { kind: 'answered', bytes: Buffer.from('+PONG\r\n'), isReal: true } as const
  const asked = await run(['nc', 'web', '6379'], { exchanges: [spoken], input: 'PING\r\n' })
  assert.deepEqual([asked.out, asked.sent], ['+PONG\r\n', ['10.0.0.7:6379 PING\r\n']])
  assert.match((await run(['nc', '-l', '-p', '80'])).err, /^nc: simulated containers know/)
})

test('of a container’s own program, what nobody here can know makes it one that is not run here', async () => {
  const elsewhere = { lookup: { kind: 'elsewhere' }, isProgram: true } as const
  for (const words of [
    ['wget', 'example.com'],
    ['curl', 'example.com'],
    ['nslookup', 'example.com'],
    ['nc', 'example.com', '80'],
  ])
    assert.equal((await run(words, elsewhere)).unknown.length, 1, words.join(' '))
  assert.equal(
    (await run(['curl', 'web'], { isProgram: true, exchanges: [{ kind: 'elsewhere' }] })).unknown
      .length,
    1,
  )
  assert.equal(
    (await run(['curl', 'localhost'], { isProgram: true, isOwn: true })).unknown.length,
    1,
  )
  for (const words of [
    ['curl', 'https://web'],
    ['curl', '--proxy', 'x', 'web'],
    ['curl', 'web', 'web'],
    ['curl', '-d', '@x', 'web'],
    ['wget', '--mirror', 'web'],
    ['nslookup', '-type=a', 'x'],
    ['nc', '-l', '1'],
  ])
    assert.equal((await run(words, { isProgram: true })).unknown.length, 1, words.join(' '))
})

test('a script that reads the page of a simulated pod is not run here, one that reads a real answer is', async () => {
  const simulated = { isProgram: true, exchanges: [answered('HTTP/1.1 200 OK', 'page', false)] }
  const real = { isProgram: true }
  for (const script of ['curl -s web | cat', 'x=$(wget -qO- web)', 'echo | nc web 80 | cat']) {
    assert.equal((await run(['sh', '-c', script], simulated)).unknown.length, 1, script)
    assert.equal((await run(['sh', '-c', script], real)).unknown.length, 0, script)
  }
  for (const script of [
    'curl -s web',
    'x=$(curl -s web > /tmp/y)',
    'curl -s web >&2 | cat',
    'curl -so /dev/null -w %{http_code} web | cat',
  ])
    assert.equal((await run(['sh', '-c', script], simulated)).unknown.length, 0, script)
})

test('whether a command line has one of them in it', () => {
  for (const words of [
    ['wget', 'x'],
    ['sh', '-c', 'until nc -z db 1; do :; done'],
    ['/usr/bin/curl'],
  ])
    assert.ok(connects(words), words.join(' '))
  for (const words of [['sh', '-c', 'echo sync; func x'], ['libcurl'], ['curl.sh'], []])
    assert.ok(!connects(words), words.join(' '))
})

const WEB_RECORD = { name: 'web.shop.svc.cluster.local', type: 'A', data: '10.0.0.7' } as const
const FOUND_RECORDS: Records = { kind: 'found', records: [WEB_RECORD] }

for (const [line, asked, expected] of [
  ['+short web.shop.svc.cluster.local', 'web.shop.svc.cluster.local A', '10.0.0.7\n'],
  [
    '+noall +answer +search web',
    'web A searched',
    'web.shop.svc.cluster.local. 30\tIN\tA\t10.0.0.7\n',
  ],
  ['+notcp +short web cname', 'web CNAME', '10.0.0.7\n'],
  ['@10.0.0.10 -t SRV +short _http._tcp.web', '_http._tcp.web SRV', '10.0.0.7\n'],
  ['+short -x 10.0.0.7', '7.0.0.10.in-addr.arpa PTR', '10.0.0.7\n'],
  [
    '+short -x fd00:10::5',
    '5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.d.f.ip6.arpa PTR',
    '10.0.0.7\n',
  ],
] as const)
  test(`dig ${line}`, async () => {
    const found = await run(['dig', ...line.split(' ')], { records: FOUND_RECORDS })
    assert.deepEqual([found.exitCode, found.asked, found.out], [0, [asked], expected])
  })

test('dig without options says what came back; nothing found is no failure, nobody there is', async () => {
  const all = await run(['dig', 'web'], { records: FOUND_RECORDS })
  assert.match(
    all.out,
    /status: NOERROR[\s\S]*\n;web\.\t\tIN\tA\n[\s\S]*ANSWER SECTION:\nweb\.shop/,
  )
  const none = await run(['dig', 'web'])
  assert.equal(none.exitCode, 0)
  assert.match(none.out, /status: NXDOMAIN[\s\S]*ANSWER: 0/)
  assert.equal((await run(['dig', '+short', 'web'])).out, '')
  const elsewhere = await run(['dig', 'example.com'], {
    records: { kind: 'elsewhere', records: [] },
  })
  assert.deepEqual([elsewhere.exitCode, elsewhere.out], [9, ';; no servers could be reached\n'])
  for (const words of [['web', 'db'], ['-4'], ['-x', 'web'], ['-x', '10.0.7'], []])
    assert.equal((await run(['dig', ...words])).exitCode, 1)
})

test('getent finds the addresses of hosts', async () => {
  const found = await run(['getent', 'hosts', 'web'])
  assert.deepEqual([found.exitCode, found.out], [0, '10.0.0.7        web.shop.svc.cluster.local\n'])
  assert.equal((await run(['getent', 'hosts', 'x'], { lookup: { kind: 'unknown' } })).exitCode, 2)
  assert.equal((await run(['getent', 'passwd', 'root'])).exitCode, 1)
})

test('curl speaks https with who is known to, and trusts nobody without -k', async () => {
  const url = 'https://10.0.0.7:10250/healthz'
  const told = await run(['curl', '-sk', '-w', '%{http_code}', url])
  assert.deepEqual(
    [told.exitCode, told.out, told.asked],
    [0, 'hello\n200', ['10.0.0.7', 'within TLS']],
  )
  assert.match(
    told.sent[0] ?? '',
    /^10\.0\.0\.7:10250 GET \/healthz HTTP\/1\.1\r\nhost: 10\.0\.0\.7:10250\r\n/,
  )
  const untrusted = await run(['curl', '-sS', 'https://web'])
  assert.deepEqual(
    [untrusted.exitCode, untrusted.err],
    [60, 'curl: (60) SSL certificate problem: unable to get local issuer certificate\n'],
  )
  assert.match(
    (await run(['curl', '-k', 'https://web/'])).sent[0] ?? '',
    /:443 GET \/ .*\r\nhost: web\r\n/,
  )
  const elsewhere = await run(['curl', 'https://example.com'], {
    exchanges: [{ kind: 'elsewhere' }],
  })
  assert.deepEqual([elsewhere.exitCode, elsewhere.err], [35, 'curl: (35) TLS is not simulated\n'])
})
