/** What an httpGet hook sends to another pod. Contract: docs/behaviour/simulation/kubelet.md, Hooks. */
import type { Container } from '@gyropilot/api'
import type { Network } from '../shell/network.ts'
import { requestBytes } from './http-exchange.ts'

type HttpGet = NonNullable<NonNullable<Container['livenessProbe']>['httpGet']>

const AGENT = 'kube-lifecycle/1.36'
/** A hook waits for its answer as long as that takes; nobody here takes long. */
const MOST_MS = 30_000

/** Undefined: it was answered, or nothing is known of whom it asks. */
export async function requestProblem(
  network: Network,
  { ports = [] }: Container,
  { host = '', path = '/', port, scheme = 'HTTP' }: HttpGet,
): Promise<string | undefined> {
  const number = ports.find(({ name }) => name === port)?.containerPort ?? Number(port)
  const found = await network.lookup(host)
  if (found.kind !== 'found') return undefined
  const own = `/${path.replace(/^\//, '')}`
  const text = `${scheme.toLowerCase()}://${host}:${number}${own}`
  const url = { text, host, port: number, path: own, user: undefined }
  const bytes = requestBytes({
    method: 'GET',
    url,
    headers: new Map(),
    body: new Uint8Array(0),
    agent: AGENT,
  })
  const address = found.addresses[0]!
  const { kind } = await network.exchange(address, number, {
    bytes,
    mostMs: MOST_MS,
    isEncrypted: scheme === 'HTTPS',
  })
  if (kind !== 'refused') return undefined
  return `Get "${text}": dial tcp ${address}:${number}: connect: connection refused`
}
