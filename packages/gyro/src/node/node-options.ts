/** What `gyro node` was asked for. Pure. */
import { formatGoDuration, formatTime, suggestion } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { flagsOf, separated } from '../flags.ts'
import { nodeFlags } from './node-flags.ts'

export interface NodeOptions {
  readonly action: 'stop' | 'start'
  readonly names: readonly string[]
  readonly afterMs: number
  /** 0: until somebody starts it. */
  readonly forMs: number
  readonly kubeconfig: string
  readonly context: string
  readonly help: boolean
}

const ACTIONS = ['stop', 'start'] as const
const USAGE = "say what to do with which nodes: 'gyro node stop NAME' or 'gyro node start NAME'"

export function nodeOptions(args: readonly string[]): NodeOptions {
  const { flags, words } = separated(args, nodeFlags)
  const { values } = flagsOf(nodeFlags, flags, 'gyro node', invalid)
  const help = values.get('help') as boolean
  const [action, ...names] = words
  const options = {
    names,
    afterMs: values.get('after') as number,
    forMs: values.get('for') as number,
    kubeconfig: values.get('kubeconfig') as string,
    context: values.get('context') as string,
    help,
  }
  if (help) return { ...options, action: 'stop' }
  if (action !== 'stop' && action !== 'start') {
    const meant = action === undefined ? '' : suggestion(action, ACTIONS)
    const what = action === undefined ? '' : `${JSON.stringify(action)} is not known`
    throw invalid(what === '' ? USAGE : `${what}${meant || `: ${USAGE}`}`)
  }
  if (names.length === 0) throw invalid(USAGE)
  for (const [name, value] of [
    ['after', options.afterMs],
    ['for', options.forMs],
  ] as const) {
    if (value < 0) throw invalid(`--${name}=${formatGoDuration(value)} is negative`)
    if (value > 0 && action === 'start') throw invalid(`--${name} goes with gyro node stop`)
  }
  return { ...options, action }
}

/** The node's document; null takes it away. */
export function nodeDocument(
  { action, afterMs, forMs }: Pick<NodeOptions, 'action' | 'afterMs' | 'forMs'>,
  nowMs: number,
): string | null {
  if (action === 'start') return null
  if (afterMs === 0 && forMs === 0) return JSON.stringify({ stopped: true })
  const fromMs = nowMs + afterMs
  const until = forMs === 0 ? {} : { until: formatTime(fromMs + forMs) }
  return JSON.stringify({ stopped: { from: formatTime(fromMs), ...until } })
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('NODE_ARGUMENT_INVALID', message, { cause })
}
