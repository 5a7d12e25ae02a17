/** `curl` for http: one URL, what scripts ask of it, and its exit codes. */
import { absolute } from '../files/file-tree.ts'
import type { Command, Process } from '../shell/process.ts'
import { headersFrom, lastOf, readArguments } from './arguments.ts'
import { basic } from './http-exchange.ts'
import type { HttpAnswer } from './http-exchange.ts'
import { httpExchange, refuseGuess } from './http-client.ts'
import type { HttpOutcome } from './http-client.ts'
import { httpUrl } from './url.ts'
import type { HttpUrl } from './url.ts'

const OPTIONS = {
  // Neither a file of options (-q) nor patterns in URLs (-g) are known here.
  flags: 'sSfiILkvOqg',
  valued: 'owXdHmuA',
  words: {
    silent: 's',
    'show-error': 'S',
    fail: 'f',
    include: 'i',
    head: 'I',
    location: 'L',
    insecure: 'k',
    verbose: 'v',
    'remote-name': 'O',
    disable: 'q',
    globoff: 'g',
  },
  wordsWithValue: {
    output: 'o',
    'write-out': 'w',
    request: 'X',
    data: 'd',
    'data-raw': 'd',
    'data-binary': 'd',
    header: 'H',
    'max-time': 'm',
    'connect-timeout': 'connect',
    interface: 'interface',
    user: 'u',
    'user-agent': 'A',
  },
} as const
/** What its own default for connecting is; for an answer it has none. */
const DEFAULT_CONNECT_SECONDS = 300

/** curl.1, EXIT CODES. */
const EXIT = {
  usage: 2,
  badUrl: 3,
  resolve: 6,
  connect: 7,
  httpError: 22,
  timeout: 28,
  tls: 35,
  bind: 45,
  circle: 47,
  empty: 52,
  certificate: 60,
} as const

/** The names of those that a pod has; its addresses will do as well. */
const INTERFACE = /^(?:eth\d+|lo)$/

type Options = ReadonlyMap<string, readonly string[]>

export const curl: Command = async (task) => {
  const read = readArguments(task.args, OPTIONS)
  if (read.kind === 'unknown') {
    task.place.onUnknown?.(`curl ${read.option}`)
    await task.err(`curl: option ${read.option}: is unknown\n`)
    return EXIT.usage
  }
  const { options, operands } = read
  const [text, ...more] = operands
  const say = sayer(task, options)
  if (
    text === undefined ||
    more.length > 0 ||
    options.get('d')?.some((data) => data.startsWith('@'))
  ) {
    task.place.onUnknown?.(`curl ${task.args.join(' ')}`)
    return say(
      EXIT.usage,
      'one URL, and data that is written out, is what simulated containers know',
    )
  }
  const url = httpUrl(text, true)
  if (url === undefined) {
    task.place.onUnknown?.(text)
    return say(...foreign(text))
  }
  const from = lastOf(options, 'interface') ?? 'eth0'
  if (!INTERFACE.test(from) && task.place.network?.isOwn(from) !== true)
    return say(EXIT.bind, 'bind failed with errno 99: Address not available')
  // Without a number, and with 0, it is the default.
  const mostMs = Number(lastOf(options, 'm')) * 1_000 || Infinity
  const connectSeconds = Number(lastOf(options, 'connect')) || DEFAULT_CONNECT_SECONDS
  const connectMs = Math.min(mostMs, connectSeconds * 1_000)
  const outcome = await httpExchange(task, {
    method: methodOf(options),
    url,
    headers: headersOf(options),
    body: Buffer.from((options.get('d') ?? []).join('&')),
    agent: lastOf(options, 'A') ?? 'curl',
    mostMs,
    connectMs,
    triesAll: true,
    follows: options.has('L'),
    async connected({ host, port, path }, address) {
      if (!options.has('v')) return
      await task.err(`* Connected to ${host} (${address}) port ${port}\n`)
      await task.err(`> ${methodOf(options)} ${path} HTTP/1.1\n> Host: ${host}\n`)
    },
  })
  if (url.isEncrypted === true) {
    // Who speaks TLS there, and what authorities an image trusts, is not known.
    const isKnown = outcome.kind === 'answered' && outcome.isReal && options.has('k')
    if (!isKnown) task.place.onUnknown?.(text)
    if (outcome.kind === 'elsewhere') return say(...foreign(text))
  }
  if (outcome.kind === 'answered' && outcome.url.isEncrypted === true && !options.has('k')) {
    await writeOut(task, options, undefined)
    return say(EXIT.certificate, 'SSL certificate problem: unable to get local issuer certificate')
  }
  if (outcome.kind !== 'answered') {
    await writeOut(task, options, undefined)
    return say(...problem(outcome, url, { connectMs, mostMs }))
  }
  const { answer } = outcome
  if (options.has('v')) for (const line of answer.head.split('\r\n')) await task.err(`< ${line}\n`)
  const fails = options.has('f') && answer.status >= 400
  if (!fails) await print(task, options, outcome)
  await writeOut(task, options, outcome)
  return fails ? say(EXIT.httpError, `The requested URL returned error: ${answer.status}`) : 0
}

function methodOf(options: Options): string {
  return lastOf(options, 'X') ?? (options.has('I') ? 'HEAD' : options.has('d') ? 'POST' : 'GET')
}

function headersOf(options: Options): ReadonlyMap<string, string> {
  const user = lastOf(options, 'u')
  return new Map([
    ...(options.has('d') ? [['content-type', 'application/x-www-form-urlencoded'] as const] : []),
    ...(user === undefined ? [] : [['authorization', basic(user)] as const]),
    ...headersFrom(options.get('H')),
  ])
}

type Answered = Extract<HttpOutcome, { kind: 'answered' }>

async function print(task: Process, options: Options, outcome: Answered): Promise<void> {
  const { answer, url, isReal } = outcome
  const showsHead = options.has('i') || options.has('I')
  const head = showsHead ? Buffer.from(`${answer.head}\r\n\r\n`, 'latin1') : Buffer.from('')
  const bytes = Buffer.concat([head, options.has('I') ? Buffer.from('') : answer.body])
  const name = options.has('O') ? (url.path.split('/').at(-1) ?? '') : lastOf(options, 'o')
  if (name === undefined || name === '-') {
    if (bytes.length > 0) refuseGuess(task, url, isReal)
    await task.out(bytes)
    return
  }
  const path = absolute(name, task.folder.path)
  if (path !== '/dev/null') task.place.files.write(path, bytes)
}

/** `%{http_code}` and some of its siblings; others are empty. */
async function writeOut(
  { out }: Process,
  options: Options,
  outcome: Answered | undefined,
): Promise<void> {
  const format = lastOf(options, 'w')
  if (format === undefined) return
  const answer: HttpAnswer | undefined = outcome?.answer
  const code = String(answer?.status ?? 0).padStart(3, '0')
  const values: Readonly<Record<string, string | undefined>> = {
    http_code: code,
    response_code: code,
    size_download: String(answer?.body.length ?? 0),
    content_type: answer?.headers.get('content-type'),
    remote_ip: outcome?.address,
    url_effective: outcome?.url.text,
  }
  await out(
    format
      .replaceAll(/%\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
      .replaceAll('\\n', '\n')
      .replaceAll('\\t', '\t'),
  )
}

function problem(
  outcome: Exclude<HttpOutcome, Answered>,
  { host, port }: HttpUrl,
  { connectMs, mostMs }: { readonly connectMs: number; readonly mostMs: number },
): readonly [number, string] {
  switch (outcome.kind) {
    case 'nameless':
      return [EXIT.resolve, `Could not resolve host: ${host}`]
    case 'refused':
    case 'elsewhere':
      return [
        EXIT.connect,
        `Failed to connect to ${host} port ${port}: Could not connect to server`,
      ]
    case 'lost':
      return [EXIT.timeout, `Connection timed out after ${connectMs} milliseconds`]
    case 'late':
      return [
        EXIT.timeout,
        `Operation timed out after ${mostMs} milliseconds with 0 bytes received`,
      ]
    case 'garbled':
      return [EXIT.empty, 'Empty reply from server']
    case 'circle':
      return [EXIT.circle, 'Maximum (10) redirects followed']
    case 'foreign':
      return foreign(outcome.location)
  }
}

function foreign(text: string): readonly [number, string] {
  return text.startsWith('https:')
    ? [EXIT.tls, 'TLS is not simulated']
    : [EXIT.badUrl, 'URL rejected: only http is simulated']
}

function sayer({ err }: Process, options: Options) {
  const isSilent = options.has('s') && !options.has('S')
  return async (exitCode: number, why: string): Promise<number> => {
    if (!isSilent) await err(`curl: (${exitCode}) ${why}\n`)
    return exitCode
  }
}
