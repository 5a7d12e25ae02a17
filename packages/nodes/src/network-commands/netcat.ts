/** `nc HOST PORT` by TCP, or by UDP with `-u`: whether somebody listens (`-z`), or what is answered to the input. */
import { gathered } from '../files/gathered.ts'
import type { Command } from '../shell/process.ts'
import { readArguments, secondsOf } from './arguments.ts'
import { reach } from './reach.ts'

/** By TCP is how it is done anyway (-t), and nobody looks at the port that it comes from (-p). */
const OPTIONS = { flags: 'zvntu', valued: 'wp', words: {}, wordsWithValue: {} } as const
const DEFAULT_TIMEOUT_SECONDS = 120
const MOST_SENT_BYTES = 8 * 2 ** 20

export const netcat: Command = async (task) => {
  const { args, place, err, out } = task
  const read = readArguments(args, OPTIONS)
  const [host, port] = read.kind === 'known' ? read.operands : []
  if (read.kind === 'unknown' || host === undefined || !/^\d+$/.test(port ?? '')) {
    place.onUnknown?.(`nc ${args.join(' ')}`)
    await err('nc: simulated containers know -z, -v, -n, -u, -w SECONDS, a host and a port\n')
    return 1
  }
  const { options } = read
  const onlyAsks = options.has('z')
  const seconds = secondsOf(options, 'w', { absent: DEFAULT_TIMEOUT_SECONDS })
  if (typeof seconds === 'string') {
    await err(`nc: ${seconds}\n`)
    return 1
  }
  const isUdp = options.has('u')
  const bytes = onlyAsks ? new Uint8Array(0) : await gathered(task.stdin, MOST_SENT_BYTES)
  const mostMs = seconds * 1_000
  const protocol = isUdp ? 'UDP' : undefined
  const reached = await reach(task, { host, port: Number(port), bytes, mostMs, protocol })
  const isLoud = options.has('v') || !onlyAsks
  if (reached.kind === 'nameless') {
    if (isLoud) await err(`nc: bad address '${host}'\n`)
    return 1
  }
  const at = `${host} (${reached.address}:${port})`
  if (reached.kind !== 'answered') {
    const why = reached.kind === 'refused' ? 'Connection refused' : 'Connection timed out'
    if (isLoud) await err(`nc: ${at}: ${why}\n`)
    return 1
  }
  if (options.has('v')) await err(`${at} open\n`)
  if (reached.bytes.length > 0 && !reached.isReal && task.isRead)
    place.onUnknown?.(`what ${at} says`)
  await out(reached.bytes)
  // By UDP nobody says that there will be no more: it waits for that long.
  if (isUdp && !onlyAsks && options.has('w')) await place.sleep(mostMs)
  return 0
}
