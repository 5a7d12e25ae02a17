/** What programs of images ask each other: a page, by GET. */
import type { Network } from '../shell/network.ts'
import { readAnswer, requestBytes } from './http-exchange.ts'

const MOST_MS = 5_000

type Told =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly text?: undefined; readonly problem: string }

/** Whatever the status of the answer is. Problems are told as programs in Go tell them. */
export async function askByHttp(
  network: Network,
  host: string,
  port: number,
  path: string,
): Promise<Told> {
  const found = await network.lookup(host)
  const text = `http://${host}:${port}${path}`
  const failed = (why: string): Told => ({ problem: `Get ${JSON.stringify(text)}: ${why}` })
  if (found.kind !== 'found') return failed(`dial tcp: lookup ${host}: no such host`)
  const [address = ''] = found.addresses
  const bytes = requestBytes({
    method: 'GET',
    url: { text, host, port, path, user: undefined },
    headers: new Map(),
    body: new Uint8Array(0),
    agent: 'Go-http-client/1.1',
  })
  const exchange = await network.exchange(address, port, { bytes, mostMs: MOST_MS })
  const dial = `dial tcp ${address}:${port}`
  if (exchange.kind === 'refused') return failed(`${dial}: connect: connection refused`)
  if (exchange.kind !== 'answered') return failed(`${dial}: i/o timeout`)
  const answer = readAnswer(exchange.bytes)
  if (answer === undefined) return failed('malformed HTTP response')
  return { text: Buffer.from(answer.body).toString() }
}
