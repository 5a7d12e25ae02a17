/**
 * `agnhost guestbook`: a primary that holds values, replicas that it tells, and front ends that ask one or the other by the names of
 * their Services. Contract: docs/behaviour/simulation/kubelet.md, Ports.
 */
import { agnhostCall, servesHttp } from '../commands/image-programs/agnhost-command.ts'
import { askByHttp } from '../network-commands/ask-by-http.ts'
import type { Guestbook } from '../shell/guestbook.ts'
import type { Network } from '../shell/network.ts'
import { PLAIN_TEXT } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'

const PRIMARY = 'agnhost-primary'
const REPLICA = 'agnhost-replica'

interface Serving {
  /** What this run of it holds. */
  readonly guestbook: Guestbook | undefined
  connect(): Network | undefined
}

/** Undefined: the program is another, or listens at another port. */
export async function guestbookPage(
  words: readonly string[],
  { port, path }: Request,
  { guestbook, connect }: Serving,
): Promise<Page | undefined> {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  if (subcommand !== 'guestbook' || guestbook === undefined || !servesHttp(words, port))
    return undefined
  const backendPort = Number(flags?.get('backend-port') ?? 6379)
  const { pathname, searchParams } = new URL(path.replace(/^\/*/, '/'), 'http://pod')
  const [key, value] = [searchParams.get('key') ?? '', searchParams.get('value') ?? '']
  switch (pathname) {
    case '/register': {
      const page = json({ data: Object.fromEntries(guestbook.values) })
      guestbook.replicas.push(searchParams.get('host') ?? '')
      return page
    }
    case '/get': {
      const all = Object.fromEntries(guestbook.values)
      return json({ data: key === '' ? all : (guestbook.values.get(key) ?? '') })
    }
    case '/set':
      return set(guestbook, { key, value, backendPort, network: connect() })
    case '/guestbook': {
      const command = (searchParams.get('cmd') ?? '').toLowerCase()
      return passOn({ command, key, value, backendPort, network: connect() })
    }
    default:
      return page(404, '404 page not found\n')
  }
}

interface Asked {
  readonly key: string
  readonly value: string
  readonly backendPort: number
  readonly network: Network | undefined
}

/** All replicas are told, one after another, until one cannot be. */
async function set(
  { values, replicas }: Guestbook,
  { key, value, backendPort, network }: Asked,
): Promise<Page> {
  if (key === '') return page(400, 'cannot set with empty key.\n')
  values.set(key, value)
  for (const host of replicas) {
    const told = network && (await askByHttp(network, host, backendPort, query('set', key, value)))
    if (told?.problem === undefined) continue
    const why = `encountered error while propagating to replica '${host}': ${told.problem}`
    return page(417, `${why}\n`)
  }
  return json({ message: 'Updated' })
}

async function passOn({
  command,
  key,
  value,
  backendPort,
  network,
}: Asked & { readonly command: string }): Promise<Page> {
  if (command !== 'get' && command !== 'set') return page(400, `unsupported cmd: '${command}'\n`)
  if (command === 'set' && key === '') return page(400, 'cannot set with empty key.\n')
  if (network === undefined) return page(417, 'encountered error: no network\n')
  const host = command === 'get' ? REPLICA : PRIMARY
  const { text, problem } = await askByHttp(network, host, backendPort, query(command, key, value))
  return problem === undefined ? page(200, text) : page(417, `encountered error: ${problem}\n`)
}

function query(command: string, key: string, value: string): string {
  return `/${command}?key=${encodeURIComponent(key)}&value=${encodeURIComponent(value)}`
}

function json(value: object): Page {
  return page(200, JSON.stringify(value))
}

function page(status: number, text: string): Page {
  return { status, type: PLAIN_TEXT, body: Buffer.from(text) }
}
