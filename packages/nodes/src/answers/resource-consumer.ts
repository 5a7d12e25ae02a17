/**
 * The program of the image `resource-consumer` (also `agnhost resource-consumer`), which takes as much as it is told to by HTTP.
 * Contract: docs/behaviour/simulation/kubelet.md, Usage.
 */
import { consumerPort } from '../commands/image-programs/agnhost-command.ts'
import { PLAIN_TEXT, parametersOf } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'

/** What a node tells of the time of a processor is what went by since it looked last. */
const WINDOW_MS = 15_000
const IDLE_MILLI_CORES = 1
const IDLE_BYTES = 8 * 2 ** 20
const NANO_PER_MILLI = 1_000_000

type Resource = 'cpu' | 'memory'

interface Taken {
  readonly resource: Resource
  /** Millicores, or MiB. */
  readonly amount: number
  readonly fromMs: number
  readonly untilMs: number
}

/** What one container was told to take. */
export class Consumption {
  #taken: Taken[] = []

  take(resource: Resource, amount: number, fromMs: number, durationMs: number): void {
    this.#taken = this.#taken.filter(({ untilMs }) => untilMs + WINDOW_MS > fromMs)
    this.#taken.push({ resource, amount, fromMs, untilMs: fromMs + durationMs })
  }

  /** Of the run that began at `sinceMs`: what an earlier one was told ended with it. */
  usage(nowMs: number, sinceMs: number) {
    const own = this.#taken.filter(({ fromMs }) => fromMs >= sinceMs)
    const windowMs = Math.max(1, Math.min(WINDOW_MS, nowMs - sinceMs))
    let milliCores = IDLE_MILLI_CORES
    let memoryBytes = IDLE_BYTES
    for (const { resource, amount, fromMs, untilMs } of own) {
      const shownMs = Math.min(nowMs, untilMs) - Math.max(nowMs - windowMs, fromMs)
      if (resource === 'cpu') milliCores += (amount * Math.max(0, shownMs)) / windowMs
      else if (untilMs > nowMs) memoryBytes += amount * 2 ** 20
    }
    return { cpuNanoCores: Math.round(milliCores * NANO_PER_MILLI), memoryBytes }
  }
}

/** Undefined: the program is another, or listens at another port. */
export function consumerPage(
  words: readonly string[],
  request: Request,
  nowMs: number,
  consumption: Consumption,
): Page | undefined {
  if (consumerPort(words) !== request.port) return undefined
  if (request.method !== 'POST') return page(400, 'Bad request. Not a POST request\n')
  const { pathname, parameters } = parametersOf(request)
  if (pathname === '/ConsumeCPU') return take('cpu', 'millicores')
  if (pathname === '/ConsumeMem') return take('memory', 'megabytes')
  if (pathname === '/GetCurrentStatus')
    return page(200, 'Warning: not implemented!\nGetCurrentStatus')
  return page(404, 'unknown function\n')

  function take(resource: Resource, unit: string): Page {
    const [amount = '', seconds = ''] = [parameters.get(unit), parameters.get('durationSec')].map(
      (text) => text ?? '',
    )
    if (amount === '' || seconds === '') return page(400, 'not given function argument\n')
    if (!isWhole(amount) || !isWhole(seconds)) return page(400, 'incorrect function argument\n')
    consumption.take(resource, Number(amount), nowMs, Number(seconds) * 1_000)
    return page(200, `${pathname.slice(1)}\n${amount} ${unit}\n${seconds} durationSec\n`)
  }
}

export function isWhole(text: string): boolean {
  return /^\d+$/.test(text)
}

function page(status: number, text: string): Page {
  return { status, type: PLAIN_TEXT, body: Buffer.from(text) }
}
