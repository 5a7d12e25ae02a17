/** `agnhost resource-consumer-controller`: it spreads what is to be taken over the pods of a Service, in requests of a size. */
import { agnhostCall } from '../commands/image-programs/agnhost-command.ts'
import { readAnswer, requestBytes } from '../network-commands/http-exchange.ts'
import type { Network } from '../shell/network.ts'
import { PLAIN_TEXT, parametersOf } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'
import { isWhole } from './resource-consumer.ts'

const MOST_MS = 10_000
/** In one request to it: more would keep a node busy. */
const MOST_REQUESTS = 1_000

/** By path: what is told of it, and how the size of a request is called. */
const KINDS: Readonly<Record<string, { unit: string; short: string; size: string }>> = {
  '/ConsumeCPU': { unit: 'millicores', short: 'millicores', size: 'requestSizeMillicores' },
  '/ConsumeMem': { unit: 'megabytes', short: 'MB', size: 'requestSizeMegabytes' },
}

/** Undefined: the program is another, or listens at another port. */
export async function controllerPage(
  words: readonly string[],
  request: Request,
  connect: () => Network | undefined,
): Promise<Page | undefined> {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  if (subcommand !== 'resource-consumer-controller') return undefined
  if (request.port !== Number(flags?.get('port') ?? 8080)) return undefined
  if (request.method !== 'POST') return page(400, 'Bad request. Not a POST request\n')
  const { pathname, parameters } = parametersOf(request)
  const kind = KINDS[pathname]
  if (kind === undefined) return page(404, 'unknown function\n')
  const [total, seconds, size] = [kind.unit, 'durationSec', kind.size].map(
    (name) => parameters.get(name) ?? '',
  ) as [string, string, string]
  if ([total, seconds, size].includes('')) return page(400, 'not given function argument\n')
  if (![total, seconds, size].every(isWhole) || Number(size) === 0)
    return page(400, 'incorrect function argument\n')
  const amounts = partsOf(Number(total), Number(size))
  const host = `${flags?.get('consumer-service-name') ?? 'resource-consumer'}.${flags?.get('consumer-service-namespace') ?? 'default'}.svc.cluster.local`
  const consumers = { host, port: Number(flags?.get('consumer-port') ?? 8080) }
  const network = connect()
  const lines = await Promise.all(
    amounts.map(async (amount) => {
      const form = `${kind.unit}=${amount}&durationSec=${seconds}`
      const problem = network && (await send(network, consumers, pathname, form))
      return problem === undefined
        ? `Consumed ${amount} ${kind.unit}`
        : `Failed to connect to consumer: ${problem}`
    }),
  )
  const whole = Math.floor(Number(total) / Number(size))
  const first = `RC manager: sending ${whole} requests to consume ${size} ${kind.short} each and 1 request to consume ${Number(total) % Number(size)} ${kind.short}`
  return page(200, `${[first, ...lines].join('\n')}\n`)
}

/** As many of that size as fit, and the rest. */
function partsOf(total: number, size: number): readonly number[] {
  const whole = Math.min(MOST_REQUESTS, Math.floor(total / size))
  const rest = total % size
  return [...Array.from({ length: whole }, () => size), ...(rest > 0 ? [rest] : [])]
}

/** Undefined: well. */
async function send(
  network: Network,
  { host, port }: { readonly host: string; readonly port: number },
  path: string,
  form: string,
): Promise<string | undefined> {
  const found = await network.lookup(host)
  if (found.kind !== 'found') return `lookup ${host}: no such host`
  const bytes = requestBytes({
    method: 'POST',
    url: { text: `http://${host}:${port}${path}`, host, port, path, user: undefined },
    headers: new Map([['content-type', 'application/x-www-form-urlencoded']]),
    body: Buffer.from(form),
    agent: 'Go-http-client/1.1',
  })
  const exchange = await network.exchange(found.addresses[0]!, port, { bytes, mostMs: MOST_MS })
  if (exchange.kind !== 'answered') return exchange.kind
  return readAnswer(exchange.bytes) === undefined ? 'malformed HTTP response' : undefined
}

function page(status: number, text: string): Page {
  return { status, type: PLAIN_TEXT, body: Buffer.from(text) }
}
