/** `/dial` of `agnhost netexec`: it asks somebody else by HTTP, and tells what it was answered. */
import { agnhostCall } from '../commands/agnhost-command.ts'
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
  const network = asked('protocol') === 'http' ? connect() : undefined
  if (network === undefined) return undefined
  const told: { responses?: string[]; errors?: string[] } = {}
  const tries = Math.min(MOST_TRIES, Number(asked('tries') || 1))
  for (let at = 0; at < tries; at++) {
    const { text, error } = await ask(
      network,
      asked('host'),
      Number(asked('port')),
      asked('request'),
    )
    if (error === undefined) (told.responses ??= []).push(text ?? '')
    else (told.errors ??= []).push(error)
  }
  return { status: 200, type: PLAIN_TEXT, body: Buffer.from(JSON.stringify(told)) }
}

async function ask(
  network: Network,
  host: string,
  port: number,
  request: string,
): Promise<{ readonly text?: string; readonly error?: string }> {
  const path = `/${request}`
  const found = await network.lookup(host)
  if (found.kind !== 'found') return { error: `dial tcp: lookup ${host}: no such host` }
  const bytes = requestBytes({
    method: 'GET',
    url: { text: `http://${host}:${port}${path}`, host, port, path, user: undefined },
    headers: new Map(),
    body: new Uint8Array(0),
    agent: 'Go-http-client/1.1',
  })
  const address = found.addresses[0]!
  const exchange = await network.exchange(address, port, { bytes, mostMs: MOST_MS })
  const answer = exchange.kind === 'answered' ? readAnswer(exchange.bytes) : undefined
  if (answer !== undefined) return { text: Buffer.from(answer.body).toString() }
  const why = exchange.kind === 'refused' ? 'connect: connection refused' : 'i/o timeout'
  return { error: `dial tcp ${address}:${port}: ${why}` }
}
