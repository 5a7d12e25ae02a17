/** `wget` as busybox has it, for http alone. */
import { absolute } from '../files/file-tree.ts'
import type { Command, Process } from '../shell/process.ts'
import { headersFrom, lastOf, readArguments, secondsOf } from './arguments.ts'
import { httpExchange, refuseGuess } from './http-client.ts'
import type { HttpOutcome } from './http-client.ts'
import { httpUrl } from './url.ts'
import type { HttpUrl } from './url.ts'

const OPTIONS = {
  flags: 'qSc',
  valued: 'OTtUY',
  words: { quiet: 'q', spider: 'spider', 'server-response': 'S', 'no-check-certificate': 'trusts' },
  wordsWithValue: {
    'output-document': 'O',
    timeout: 'T',
    tries: 't',
    header: 'header',
    'post-data': 'post',
    'user-agent': 'U',
  },
} as const
const DEFAULT_TIMEOUT_SECONDS = 900

export const wget: Command = async (task) => {
  const read = readArguments(task.args, OPTIONS)
  if (read.kind === 'unknown') return refused(task, `unrecognized option '${read.option}'`)
  const { options, operands } = read
  const seconds = secondsOf(options, 'T', { absent: DEFAULT_TIMEOUT_SECONDS, most: 2 ** 31 - 1 })
  if (typeof seconds === 'string') return failed(task, seconds)
  const [text] = operands
  if (text === undefined) return refused(task, 'missing URL')
  const url = httpUrl(text)
  if (url === undefined) return refused(task, `not an http or ftp url: ${text}`)
  const isQuiet = options.has('q')
  const say = async (line: string): Promise<void> => {
    if (!isQuiet) await task.err(`${line}\n`)
  }
  const sent = lastOf(options, 'post')
  const outcome = await httpExchange(task, {
    method: options.has('spider') ? 'HEAD' : sent === undefined ? 'GET' : 'POST',
    url,
    headers: new Map([
      ...(sent === undefined
        ? []
        : [['content-type', 'application/x-www-form-urlencoded'] as const]),
      ...headersFrom(options.get('header')),
    ]),
    body: Buffer.from(sent ?? ''),
    agent: lastOf(options, 'U') ?? 'Wget',
    mostMs: seconds * 1_000,
    follows: true,
    connected: ({ host, port }, address) => say(`Connecting to ${host} (${address}:${port})`),
  })
  if (outcome.kind !== 'answered') return failed(task, problem(outcome, url))
  const { answer, isReal } = outcome
  if (options.has('S')) for (const line of answer.head.split('\r\n')) await task.err(`  ${line}\n`)
  if (answer.status >= 400) return failed(task, `server returned error: ${answer.statusLine}`)
  if (options.has('spider')) {
    await say('remote file exists')
    return 0
  }
  const named = lastOf(options, 'O')
  if (named === '-') {
    refuseGuess(task, outcome.url, isReal)
    await say('writing to stdout')
    await task.out(answer.body)
    await say('written to stdout')
    return 0
  }
  return save(task, named, outcome.url, answer.body, say)
}

async function save(
  task: Process,
  named: string | undefined,
  url: HttpUrl,
  body: Uint8Array,
  say: (line: string) => Promise<void>,
): Promise<number> {
  const name =
    named ??
    (url.path
      .replace(/[?#].*/, '')
      .split('/')
      .at(-1) ||
      'index.html')
  const path = absolute(name, task.folder.path)
  const { files } = task.place
  if (named === undefined && files.exists(path))
    return failed(task, `can't open '${name}': File exists`)
  await say(`saving to '${name}'`)
  if (path !== '/dev/null') files.write(path, body)
  await say(`'${name}' saved`)
  return 0
}

function problem(outcome: Exclude<HttpOutcome, { kind: 'answered' }>, url: HttpUrl): string {
  switch (outcome.kind) {
    case 'nameless':
      return `bad address '${url.host}'`
    case 'refused':
      return `can't connect to remote host (${outcome.address}): Connection refused`
    case 'elsewhere':
      return `can't connect to remote host (${outcome.address}): No route to host`
    case 'lost':
    case 'late':
      return 'download timed out'
    case 'garbled':
      return 'error getting response'
    case 'circle':
      return 'too many redirections'
    case 'foreign':
      return `not an http or ftp url: ${outcome.location}`
  }
}

/** What busybox would know and this does not is told to the place first. */
async function refused(task: Process, why: string): Promise<number> {
  task.place.onUnknown?.(`wget ${task.args.join(' ')}`)
  return failed(task, why)
}

async function failed({ err }: Process, why: string): Promise<number> {
  await err(`wget: ${why}\n`)
  return 1
}
