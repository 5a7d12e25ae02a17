/** `agnhost nettest`: it counts who wrote to it, and tells. Contract: docs/behaviour/simulation/kubelet.md, Ports. */
import { agnhostCall } from '../commands/image-programs/agnhost-command.ts'
import { PLAIN_TEXT } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'

/** What one run of it was sent, by who sent it. */
export type Heard = Map<string, number>

/** Undefined: the program is another, or listens at another port. */
export function nettestPage(
  words: readonly string[],
  { port, path, method, body = '' }: Request,
  hostname: string,
  heard: Heard,
): Page | undefined {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  if (subcommand !== 'nettest' || port !== Number(flags?.get('port') ?? 8080)) return undefined
  const [pathname] = path.split('?')
  if (pathname === '/quit') return page(200, '')
  if (pathname === '/status') return page(200, 'running')
  if (pathname === '/write' && method === 'POST') {
    const source = sourceOf(body)
    if (source === undefined) return page(400, 'unexpected end of JSON input\n')
    heard.set(source, (heard.get(source) ?? 0) + 1)
    return json({ Hostname: hostname })
  }
  if (pathname !== '/read') return page(404, '404 page not found\n')
  return json({
    Hostname: hostname,
    Sent: {},
    Received: Object.fromEntries(heard),
    Errors: null,
    Log: null,
    StillContactingPeers: true,
  })
}

function sourceOf(body: string): string | undefined {
  try {
    const { Source } = JSON.parse(body) as { readonly Source?: unknown }
    return typeof Source === 'string' ? Source : undefined
  } catch {
    return undefined
  }
}

function json(value: object): Page {
  const body = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
  return { status: 200, type: 'application/json', body }
}

function page(status: number, text: string): Page {
  return { status, type: PLAIN_TEXT, body: Buffer.from(text) }
}
