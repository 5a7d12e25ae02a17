/** `agnhost connect HOST:PORT`: whether somebody listens, in words that scripts look for. */
import { durationMs } from '../behavior/duration.ts'
import type { Protocol } from '../shell/network.ts'
import type { Process } from '../shell/process.ts'
import { reach } from './reach.ts'

const DEFAULT_TIMEOUT_MS = 60_000
const PROTOCOLS: Readonly<Record<string, Protocol>> = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP' }
const WORDS = { refused: 'REFUSED', lost: 'TIMEOUT', late: 'TIMEOUT', elsewhere: 'OTHER' } as const

export async function connect(
  task: Process,
  target: string,
  flags: ReadonlyMap<string, string>,
): Promise<number> {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(target) ?? []
  const protocol = PROTOCOLS[flags.get('protocol') ?? 'tcp']
  if (task.place.network === undefined || port === undefined || protocol === undefined) {
    task.place.onUnknown?.(`agnhost connect ${target}`)
    await task.err('UNKNOWN\n')
    return 1
  }
  const host = bracketed ?? plain!
  const mostMs = durationMs(flags.get('timeout') || undefined, DEFAULT_TIMEOUT_MS)
  // By UDP only an answer tells that somebody is there.
  const bytes = Buffer.from(protocol === 'UDP' ? 'hostname\n' : '')
  const wanted = { host, port: Number(port), bytes, mostMs, protocol, triesAll: true }
  const reached = await reach(task, wanted)
  if (reached.kind === 'answered') return 0
  await task.err(
    reached.kind === 'nameless' ? `DNS: no such host ${host}\n` : `${WORDS[reached.kind]}\n`,
  )
  return 1
}
