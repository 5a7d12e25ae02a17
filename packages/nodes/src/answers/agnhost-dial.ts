/** `/dial` of `agnhost netexec`: it asks somebody else by HTTP or UDP, and tells what it was answered. */
import { agnhostCall } from '../commands/image-programs/agnhost-command.ts'
import { readAnswer, requestBytes } from '../network-commands/http-exchange.ts'
import type { Network } from '../shell/network.ts'
import { PLAIN_TEXT } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'

const MOST_MS = 5_000
const MOST_TRIES = 100

/** Undefined: it is not asked to, or in a way that nothing is known of here. */
export async function dialPage(
  words: readonly string[],
  { port, path }: Request,
  connect: () => Network | undefined,
): Promise<Page | undefined> {
  const call = agnhostCall(words)
  if (call?.subcommand !== 'netexec' || port !== Number(call.flags.get('http-port') ?? 8080))
    return undefined
  const { pathname, searchParams } = new URL(path.replace(/^\/*/, '/'), 'http://pod')
  if (pathname !== '/dial') return undefined
  const asked = (name: string): string => searchParams.get(name) ?? ''
  const protocol = asked('protocol') || 'http'
  const network = /^(?:http|udp)$/.test(protocol) ? connect() : undefined
  if (network === undefined) return undefined
  const told: { responses?: string[]; errors?: string[] } = {}
  const tries = Math.min(MOST_TRIES, Number(asked('tries') || 1))
  for (let at = 0; at < tries; at++) {
    const { text, error } = await ask(network, {
      protocol,
      host: asked('host'),
      port: Number(asked('port')),
      request: asked('request'),
    })
    if (error === undefined) (told.responses ??= []).push(text ?? '')
    else (told.errors ??= []).push(error)
  }
  return { status: 200, type: PLAIN_TEXT, body: Buffer.from(JSON.stringify(told)) }
}

interface Asked {
  readonly protocol: string
  readonly host: string
  readonly port: number
  readonly request: string
}

async function ask(
  network: Network,
  { protocol, host, port, request }: Asked,
): Promise<{ readonly text?: string; readonly error?: string }> {
  const found = await network.lookup(host)
  const isUdp = protocol === 'udp'
  const dial = `dial ${isUdp ? 'udp' : 'tcp'}`
  if (found.kind !== 'found') return { error: `${dial}: lookup ${host}: no such host` }
  const address = found.addresses[0]!
  const bytes = isUdp ? Buffer.from(request) : httpRequest(host, port, `/${request}`)
  const way = isUdp ? 'UDP' : 'TCP'
  const exchange = await network.exchange(address, port, { bytes, mostMs: MOST_MS, protocol: way })
  if (exchange.kind === 'answered') {
    const body = isUdp ? exchange.bytes : readAnswer(exchange.bytes)?.body
    if (body !== undefined) return { text: Buffer.from(body).toString() }
  }
  const why = exchange.kind === 'refused' ? 'connect: connection refused' : 'i/o timeout'
  return { error: `${dial} ${address}:${port}: ${why}` }
}

function httpRequest(host: string, port: number, path: string): Uint8Array {
  return requestBytes({
    method: 'GET',
    url: { text: `http://${host}:${port}${path}`, host, port, path, user: undefined },
    headers: new Map(),
    body: new Uint8Array(0),
    agent: 'Go-http-client/1.1',
  })
}
